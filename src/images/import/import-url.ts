/**
 * Makes an image of the store from a disk at an address. Its name has the beginning of its digest in it, so what is here already is found
 * without a download, and a machine never gets another disk under the same name.
 */
import { UserError } from '../../base/errors.ts';
import { type Fetch, guardedFetch } from '../guarded-fetch.ts';
import { openImageStore } from '../store.ts';
import { type DownloadCache, fileNameOf } from './download-cache.ts';
import type { DownloadProgress } from './download-file.ts';
import { expectedDigest } from './expected-digest.ts';
import { type ImportOptions, importDisk } from './import-disk.ts';

export type UrlSource = {
  readonly url: string;
  readonly digest?: string | undefined;
  readonly checksums?: string | undefined;
  /** The catalogue from elsewhere that names the address; undefined when the user does. */
  readonly publisher?: string | undefined;
};
type Options = Pick<ImportOptions, 'storeDir' | 'searchPath' | 'signal' | 'compression'> & {
  readonly source: UrlSource;
  readonly downloads: DownloadCache;
  /** The name in the store for what has this digest. */
  readonly nameFor: (digest: string) => string;
  /** The last image from this address in the store, for when nobody can be asked; undefined when there is none. */
  readonly lastKnown?: () => string | undefined;
  /** What has the name now makes way: somebody chose the name. */
  readonly isReplaced?: boolean;
  readonly onStage?: ImportOptions['onStage'];
  readonly onDownload?: (progress: DownloadProgress) => void;
  readonly onWaiting?: () => void;
  /** Told what is not as good as it could be. */
  readonly onNote?: (note: string) => void;
  readonly fetchFor?: (named: string) => Fetch;
};

/** The name in the store, when the image is there. */
export async function importUrl(options: Options): Promise<{ readonly reference: string; readonly isNew: boolean }> {
  try {
    return await importNewest(options);
  } catch (error) {
    const reference = isOutOfReach(error) ? options.lastKnown?.() : undefined;
    if (reference === undefined) throw error;
    options.onNote?.(`its publisher is out of reach, the last one that was brought in is used: ${(error as UserError).why}`);
    return { reference, isNew: false };
  }
}

async function importNewest(options: Options): Promise<{ readonly reference: string; readonly isNew: boolean }> {
  const { source, storeDir, downloads, nameFor, signal, onNote = () => {}, fetchFor = guardedFetch } = options;
  const { url } = source;
  const named = source.publisher ?? url;
  const store = openImageStore(storeDir);
  const isHere = (digest: string) => !options.isReplaced && store.resolve(nameFor(digest)) !== undefined;
  const digest = await expectedDigest(source, fetchFor(named), signal);
  if (digest === undefined) onNote('nobody says what its digest should be: it is not checked');
  else if (isHere(digest)) return { reference: nameFor(digest), isNew: false };
  const { onDownload, onWaiting } = options;
  const found = await downloads.get({
    url,
    named,
    digest,
    signal,
    ...(onDownload && { onProgress: onDownload }),
    ...(onWaiting && { onWaiting }),
  });
  if (found.note) onNote(`its server cannot say whether there is a newer one, the last one is used: ${found.note}`);
  const reference = nameFor(found.digest);
  if (isHere(found.digest)) return { reference, isNew: false };
  await importDisk({ ...options, path: found.path, name: fileNameOf(url), reference });
  return { reference, isNew: true };
}

function isOutOfReach(error: unknown): boolean {
  return error instanceof UserError && ['CHECKSUMS_UNREACHABLE', 'DOWNLOAD_FAILED'].includes(error.code);
}

/** A digest that somebody typed; a UserError when it is none. */
export function parseDigest(said: string): string {
  if (/^sha256:[0-9a-f]{64}$|^sha512:[0-9a-f]{128}$/.test(said)) return said;
  throw new UserError('USAGE', `${said} is no digest`, { fix: 'write sha256:HEX or sha512:HEX', exitCode: 2 });
}
