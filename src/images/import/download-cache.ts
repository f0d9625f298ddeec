/**
 * Files from addresses, kept for all data folders of a user: a folder for each address, in which one process at a time works. Whoever asks
 * for an address that somebody else is downloading waits for that one.
 *
 *   what is here                                  then
 *   a file, and its digest is known               it is used when it has that digest, without asking anybody; else it is downloaded anew
 *   a file, and nothing is known                  its server is asked whether it has changed; out of reach, it is used and that is said
 *   nothing, or a part                            downloaded
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { messageOf, UserError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import { writeFileDurably } from '../../base/node/durable-file.ts';
import { withFileLock } from '../../base/node/file-lock.ts';
import { timeoutSignal } from '../../base/timeout-signal.ts';
import { type Fetch, guardedFetch } from '../guarded-fetch.ts';
import { chooseToRemove } from '../prune.ts';
import { conditionsFor, type Download, type DownloadProgress, downloadFile, sizeOf, type Validators } from './download-file.ts';
import { digestOfFile } from './file-digest.ts';

export type DownloadRequest = {
  readonly url: string;
  /** The address that the user named, or trusts to name others: what it leads to may be here only when it is itself. */
  readonly named: string;
  readonly digest?: string | undefined;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: DownloadProgress) => void;
  readonly onWaiting?: () => void;
};
export type Downloaded = {
  readonly path: string;
  readonly digest: string;
  /** Why it may not be the newest; undefined when it is. */
  readonly note?: string;
};
export type DownloadCache = { get(request: DownloadRequest): Promise<Downloaded> };

type Options = {
  /** The cache of the user. */
  readonly cache: string;
  readonly clock: Clock;
  readonly maxBytes: number;
  readonly limits?: Pick<Download, 'maxBytes' | 'stallMs' | 'slowMs'>;
  readonly fetchFor?: (named: string) => Fetch;
};
/** What is known of a file that is here. */
type About = Validators & { readonly url: string; readonly digest: string };

const ABOUT = 'about.json';
const ASK_MS = 20_000;

export function openDownloadCache({ cache, clock, maxBytes, limits = {}, fetchFor = guardedFetch }: Options): DownloadCache {
  const dir = join(cache, 'downloads');
  return {
    async get({ url, named, digest, signal, onProgress = () => {}, onWaiting = () => {} }) {
      const key = createHash('sha256').update(url).digest('hex').slice(0, 32);
      const folder = join(dir, key);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      // Few locks for all addresses: they stay, as a lock that is removed while somebody waits for it is none.
      return withFileLock({ path: join(dir, `.lock-${key.slice(0, 2)}`), clock, signal, onWaiting }, async () => {
        const fetch = fetchFor(named);
        const here = await usable({ folder, url, digest, fetch, signal });
        const found = here ?? (await download({ url, folder, fetch, clock, signal, digest, onProgress, ...limits }));
        touch(folder, clock.now());
        prune(dir, { keep: new Set([key]), maxBytes, now: clock.now() });
        return found;
      });
    },
  };
}

/** What is here, if it may be used. */
async function usable(options: Pick<Download, 'folder' | 'url' | 'digest' | 'fetch' | 'signal'>): Promise<Downloaded | undefined> {
  const { folder, url, digest, fetch, signal } = options;
  const path = join(folder, 'file');
  const about = readAbout(folder);
  if (!about || sizeOf(path) === undefined) return undefined;
  if (digest !== undefined) return (await digestOfFile(path, digest, signal)) === digest ? { path, digest } : undefined;
  if ((await digestOfFile(path, about.digest, signal)) !== about.digest) return undefined; // somebody has changed it
  if (about.etag === undefined && about.lastModified === undefined) return undefined; // nobody could say whether it is still the same
  try {
    const patience = AbortSignal.any([signal, timeoutSignal(ASK_MS)]);
    const response = await fetch(new URL(url), { headers: conditionsFor(about), signal: patience });
    await response.body?.cancel();
    if (response.status === 304) return { path, digest: about.digest };
    return response.status >= 500 ? { path, digest: about.digest, note: `the server answered ${response.status}` } : undefined;
  } catch (error) {
    signal.throwIfAborted();
    return { path, digest: about.digest, note: messageOf(error) };
  }
}

async function download(request: Download): Promise<Downloaded> {
  const { url, folder, signal } = request;
  const validators = await downloadFile(request);
  const path = join(folder, 'file');
  const digest = request.digest ?? (await digestOfFile(path, undefined, signal));
  rmSync(join(folder, 'partial.json'), { force: true });
  await writeFileDurably(join(folder, ABOUT), JSON.stringify({ ...validators, url, digest } satisfies About));
  return { path, digest };
}

function readAbout(folder: string): About | undefined {
  try {
    const json: unknown = JSON.parse(readFileSync(join(folder, ABOUT), 'utf8'));
    return isObject(json) && typeof json['digest'] === 'string' ? (json as About) : undefined; // written by us
  } catch {
    return undefined; // not there, or cut off: then the file is fetched again
  }
}

function touch(folder: string, now: number): void {
  utimesSync(folder, now / 1000, now / 1000);
}

/** Those that nobody has used for longest go until the rest fits. */
function prune(dir: string, limits: { readonly keep: ReadonlySet<string>; readonly maxBytes: number; readonly now: number }): void {
  const folders = readdirSync(dir).filter((name) => /^[0-9a-f]{32}$/.test(name));
  const cached = folders.map((digest) => {
    const at = join(dir, digest);
    const sizeBytes = (sizeOf(join(at, 'file')) ?? 0) + (sizeOf(join(at, 'partial')) ?? 0);
    return { digest, sizeBytes, usedAtMs: statSync(at, { throwIfNoEntry: false })?.mtimeMs ?? 0 };
  });
  for (const key of chooseToRemove(cached, limits)) rmSync(join(dir, key), { recursive: true, force: true });
}

/** The address of a file that was asked for without one that could be wrong. */
export function fileNameOf(url: string): string {
  const last = new URL(url).pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last);
  } catch {
    throw new UserError('USAGE', `${url} cannot be the address of a disk`, { why: 'its last part cannot be read', exitCode: 2 });
  }
}
