/**
 * Downloads one blob into a layout. It grows beside the others as `blobs/.partial-HEX`, which no reader of a layout looks at, and gets its
 * name when all of it is there and has its digest. A download that was cut off (by the network, or by the end of the process) goes on where
 * it was; one that failed because the disk is full or the bytes are wrong is removed. One process at a time works on a blob.
 */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { ApiError } from '../base/errors.ts';
import { withFileLock } from '../base/node/file-lock.ts';
import { explainSystemError } from '../base/node/system-error.ts';
import { blobPath, type Descriptor, syncFolder } from './layout.ts';
import type { Registry } from './registry.ts';

export type Download = {
  readonly dir: string;
  readonly blob: Descriptor;
  readonly repository: string;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How many bytes of it are here by now. */
  readonly onBytes: (bytes: number) => void;
};

/** In a row, without a byte in between. */
const TRIES = 4;
const FIRST_PAUSE_MS = 500;
const PARTIAL = '.partial-';
const ABANDONED_MS = 24 * 3600_000;

/** True when the layout has all of it. */
export function hasBlob(dir: string, { digest, size }: Descriptor): boolean {
  return statSync(blobPath(dir, digest), { throwIfNoEntry: false })?.size === size;
}

/** The blob is durable when this resolves. */
export async function downloadBlob(download: Download): Promise<void> {
  const { dir, blob, clock, signal, onBytes } = download;
  const hex = blob.digest.slice('sha256:'.length);
  const partial = join(dir, 'blobs', `${PARTIAL}${hex}`);
  // Few locks for all blobs: they stay, as a lock that is removed while somebody waits for it is none.
  await withFileLock({ path: join(dir, 'blobs', `.lock-${hex.slice(0, 2)}`), clock, signal }, async () => {
    if (hasBlob(dir, blob)) return onBytes(blob.size);
    try {
      await fill(partial, download);
    } catch (error) {
      const isWorthKeeping = !(error instanceof WrongBytes) && !explainSystemError(error);
      if (!isWorthKeeping) await rm(partial, { force: true });
      throw explainSystemError(error) ?? error;
    }
    await rename(partial, blobPath(dir, blob.digest));
    await syncFolder(join(dir, 'blobs', 'sha256'));
  });
}

/** Removes what nobody has gone on with for a day. */
export function removeAbandonedPartials(dir: string, now: number): void {
  const blobs = join(dir, 'blobs');
  if (!existsSync(blobs)) return;
  for (const name of readdirSync(blobs)) {
    if (!name.startsWith(PARTIAL)) continue;
    const info = statSync(join(blobs, name), { throwIfNoEntry: false });
    if (info && now - info.mtimeMs > ABANDONED_MS) rmSync(join(blobs, name), { force: true });
  }
}

/** What came is not what was promised: there is no use in going on. */
class WrongBytes extends ApiError {
  constructor({ digest }: Descriptor, why: string) {
    super('Invalid', `blob ${digest} is refused: ${why}`);
  }
}

async function fill(path: string, { blob, repository, registry, clock, signal, onBytes }: Download): Promise<void> {
  const file = await open(path, 'a', 0o600);
  try {
    const state = { size: (await stat(path)).size, hash: createHash('sha256') };
    if (state.size > blob.size) await restart(file, state);
    else await hashFile(path, state.hash);
    onBytes(state.size);
    for (let failures = 0; state.size < blob.size; ) {
      const before = state.size;
      try {
        await fetchRest({ file, state, blob, repository, registry, signal, onBytes });
      } catch (error) {
        signal.throwIfAborted();
        failures = state.size > before ? 1 : failures + 1;
        if (error instanceof WrongBytes || explainSystemError(error) || isFinal(error) || failures >= TRIES) throw error;
        await clock.sleep(FIRST_PAUSE_MS * 2 ** (failures - 1), signal);
        signal.throwIfAborted();
      }
    }
    const digest = `sha256:${state.hash.digest('hex')}`;
    if (digest !== blob.digest) throw new WrongBytes(blob, `its digest is ${digest}`);
    await file.sync();
  } finally {
    await file.close();
  }
}

type State = { size: number; hash: Hash };
type Rest = Pick<Download, 'blob' | 'repository' | 'registry' | 'signal' | 'onBytes'> & {
  readonly file: FileHandle;
  readonly state: State;
};

/** One request for what is missing; a registry that does not know ranges sends all of it again. */
async function fetchRest({ file, state, blob, repository, registry, signal, onBytes }: Rest): Promise<void> {
  const headers: Record<string, string> = state.size > 0 ? { range: `bytes=${state.size}-` } : {};
  const response = await registry.open({
    method: 'GET',
    to: `/v2/${repository}/blobs/${blob.digest}`,
    headers,
    expected: [200, 206],
    signal,
  });
  const isRest = response.status === 206 && response.headers.get('content-range')?.startsWith(`bytes ${state.size}-`) === true;
  if (!isRest) {
    if (response.status === 206) throw new WrongBytes(blob, 'the registry sends another part than it was asked for');
    await restart(file, state);
  }
  for await (const chunk of response.body ?? []) {
    if (state.size + chunk.length > blob.size) throw new WrongBytes(blob, `it has more than the ${blob.size} bytes that were promised`);
    await file.write(chunk);
    state.hash.update(chunk);
    state.size += chunk.length;
    onBytes(state.size);
  }
  if (state.size < blob.size) throw new Error(`the registry ended its answer after ${state.size} of ${blob.size} bytes`);
}

async function restart(file: FileHandle, state: State): Promise<void> {
  await file.truncate();
  state.size = 0;
  state.hash = createHash('sha256');
}

async function hashFile(path: string, hash: Hash): Promise<void> {
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 18 })) hash.update(chunk as Buffer);
}

/** An answer that says no would say no again. */
function isFinal(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'REGISTRY_FORBIDS' || (error instanceof ApiError && /answered 4\d\d/.test(error.message));
}
