/** The digest that a file has to have: as it was said, or as its publisher lists it. */
import { messageOf, UserError } from '../../base/errors.ts';
import { readBytes } from '../../base/read-bytes.ts';
import { timeoutSignal } from '../../base/timeout-signal.ts';
import type { Fetch } from '../guarded-fetch.ts';
import { digestIn, MAX_LIST_BYTES } from './checksum-list.ts';
import { fileNameOf } from './download-cache.ts';

type Source = { readonly url: string; readonly digest?: string | undefined; readonly checksums?: string | undefined };

const PATIENCE_MS = 30_000;

/** Undefined when nobody says. A list that cannot be had or does not name the file is an error: the disk would go unchecked. */
export async function expectedDigest({ url, digest, checksums }: Source, fetch: Fetch, signal: AbortSignal): Promise<string | undefined> {
  if (digest !== undefined || checksums === undefined) return digest;
  const text = await listAt(checksums, fetch, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    if (error instanceof UserError) throw error; // it is not asked, and nothing will change
    throw new UserError('CHECKSUMS_UNREACHABLE', `the digests at ${checksums} cannot be had`, {
      why: messageOf(error),
      fix: 'try again when it is in reach',
      exitCode: 8,
      cause: error,
    });
  });
  const found = digestIn(text, fileNameOf(url));
  if (found) return found;
  throw new UserError('CHECKSUM_MISSING', `${checksums} does not have the digest of ${fileNameOf(url)}`, {
    why: 'the disk could not be checked',
    fix: 'ask whoever wrote the catalogue',
  });
}

async function listAt(address: string, fetch: Fetch, signal: AbortSignal): Promise<string> {
  const response = await fetch(new URL(address), { signal: AbortSignal.any([signal, timeoutSignal(PATIENCE_MS)]) });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`the server answered ${response.status}`);
  }
  return new TextDecoder().decode(await readBytes(response.body, MAX_LIST_BYTES, 'the list of digests'));
}
