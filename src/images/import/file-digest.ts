/** Digests of files, as `sha256:HEX` or `sha512:HEX`. */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/** The kind of digest that is wanted: that of the one that is expected, else sha256. */
function hashLike(expected: string | undefined): { readonly algorithm: string; readonly hash: Hash } {
  const algorithm = expected?.split(':')[0] ?? 'sha256';
  return { algorithm, hash: createHash(algorithm) };
}

/** Reads all of it. */
export async function digestOfFile(path: string, expected: string | undefined, signal?: AbortSignal): Promise<string> {
  const { algorithm, hash } = hashLike(expected);
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 18, signal })) hash.update(chunk as Buffer);
  return `${algorithm}:${hash.digest('hex')}`;
}
