/** SHA256SUMS: the digest of each file of a release, as `sha256sum --check` reads it. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../src/base/errors.ts';

export type FileDigest = { readonly name: string; readonly sha256: string };

/** The digests of these files, sorted by name; names are relative to the folder. */
export async function digestFiles(folder: string, names: readonly string[]): Promise<FileDigest[]> {
  const digests: FileDigest[] = [];
  for (const name of [...names].sort()) digests.push({ name, sha256: await sha256Of(join(folder, name)) });
  return digests;
}

/** The digest of one file, however large it is. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path)) hash.update(piece);
  return hash.digest('hex');
}

/** The text of SHA256SUMS. */
export function formatSums(digests: readonly FileDigest[]): string {
  return digests.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join('');
}

/** What a text of SHA256SUMS says. A name that leads out of its folder, or anything else that we would not write, is refused. */
export function parseSums(text: string): FileDigest[] {
  const lines = text.split('\n');
  if (lines.pop() !== '' || lines.length === 0) throw notOurs('it does not end with a whole line');
  return lines.map((line) => {
    const [, sha256, name] = /^([0-9a-f]{64}) {2}([\w.-]+(?:\/[\w.-]+)*)$/.exec(line) ?? [];
    if (sha256 === undefined || name === undefined || name.split('/').some((part) => part === '.' || part === '..'))
      throw notOurs(`this line says something else: ${JSON.stringify(line.slice(0, 100))}`);
    return { name, sha256 };
  });
}

function notOurs(why: string): UserError {
  return new UserError('SUMS_INVALID', 'SHA256SUMS is not that of a release', { why, fix: 'get the release files again' });
}
