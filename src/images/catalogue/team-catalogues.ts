/** Catalogues that others publish: which of them this data folder uses, and the copies of them that it works with. */
import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { messageOf, UserError } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import { writeFileDurably } from '../../base/node/durable-file.ts';
import { readBytes } from '../../base/read-bytes.ts';
import { timeoutSignal } from '../../base/timeout-signal.ts';
import { type Fetch, guardedFetch } from '../guarded-fetch.ts';
import { cataloguePath, copyPath, readUserCatalogue } from './catalogue.ts';
import { MAX_CATALOGUE_BYTES, parseCatalogue, whyNoAddress } from './parse-catalogue.ts';

/** A copy that is younger is taken as it is. */
const FRESH_MS = 24 * 3600_000;
const PATIENCE_MS = 20_000;

type Options = {
  readonly home: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  readonly fetchFor?: (named: string) => Fetch;
};

/** Fetches those whose copy is old; what could not be had, in words: work goes on with the copy, or without the names. */
export async function refreshCatalogues(options: Options): Promise<readonly string[]> {
  const { home, clock } = options;
  const notes: string[] = [];
  for (const address of readUserCatalogue(home).catalogues) {
    const madeAtMs = statSync(copyPath(home, address), { throwIfNoEntry: false })?.mtimeMs;
    if (madeAtMs !== undefined && clock.now() - madeAtMs < FRESH_MS) continue;
    try {
      await fetchCopy(address, options);
    } catch (error) {
      options.signal?.throwIfAborted();
      const instead =
        madeAtMs === undefined ? 'its names are not known' : `the copy of ${new Date(madeAtMs).toISOString().slice(0, 10)} is used`;
      notes.push(`the catalogue ${address} cannot be had now, ${instead}: ${whyOf(error)}`);
    }
  }
  return notes;
}

/** Takes one more: fetched and checked before anything is written down. How many names it has. */
export async function addCatalogue(address: string, options: Options): Promise<number> {
  const why = whyNoAddress(address);
  if (why) throw new UserError('USAGE', `${address} cannot be the address of a catalogue`, { why: `it ${why}`, exitCode: 2 });
  const { home } = options;
  const { catalogues } = readUserCatalogue(home);
  const count = await fetchCopy(address, options).catch((error: unknown) => {
    options.signal?.throwIfAborted();
    throw error instanceof UserError
      ? error
      : new UserError('CATALOGUE_UNREACHABLE', `the catalogue ${address} cannot be had`, { why: whyOf(error), exitCode: 8, cause: error });
  });
  if (!catalogues.includes(address)) await changeUserFile(home, (file) => ({ ...file, catalogues: [...catalogues, address] }));
  return count;
}

/** Its names are gone with it. */
export async function removeCatalogue(address: string, home: string): Promise<void> {
  const { catalogues } = readUserCatalogue(home);
  if (!catalogues.includes(address))
    throw new UserError('CATALOGUE_MISSING', `${address} is none of the catalogues here`, {
      why: catalogues.length === 0 ? 'there are none but the built-in one' : `there are ${catalogues.join(', ')}`,
      exitCode: 3,
    });
  await changeUserFile(home, (file) => ({ ...file, catalogues: catalogues.filter((each) => each !== address) }));
  rmSync(copyPath(home, address), { force: true });
}

async function fetchCopy(address: string, { home, signal, fetchFor = guardedFetch }: Options): Promise<number> {
  const patience = timeoutSignal(PATIENCE_MS);
  const response = await fetchFor(address)(new URL(address), { signal: signal ? AbortSignal.any([signal, patience]) : patience });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`the server answered ${response.status}`);
  }
  const text = new TextDecoder().decode(await readBytes(response.body, MAX_CATALOGUE_BYTES, 'the catalogue'));
  const { images } = parseCatalogue(text, address, 'team');
  mkdirSync(dirname(copyPath(home, address)), { recursive: true, mode: 0o700 });
  await writeFileDurably(copyPath(home, address), text);
  return images.size;
}

/** What else is in the file stays as it is. */
async function changeUserFile(home: string, change: (file: JsonObject) => JsonObject): Promise<void> {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  await writeFileDurably(cataloguePath(home), `${JSON.stringify(change(userFile(home)), null, 2)}\n`);
}

function userFile(home: string): JsonObject {
  try {
    const json: unknown = JSON.parse(readFileSync(cataloguePath(home), 'utf8'));
    return isObject(json) ? json : {};
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

function whyOf(error: unknown): string {
  return error instanceof UserError ? (error.why ?? error.message) : messageOf(error);
}
