/** Whether the files of a release are those that were signed. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../src/base/errors.ts';
import { areSumsSigned } from './signature.ts';
import { type FileDigest, parseSums, sha256Of } from './sums.ts';
import { SIGNATURE, SUMS } from './write-release.ts';

/** The files that were checked; one that is missing, changed, or not signed with this key is an error. */
export async function verifyRelease(folder: string, publicKeyPem: string): Promise<FileDigest[]> {
  for (const name of [SUMS, SIGNATURE])
    if (!existsSync(join(folder, name))) throw refused(`${name} is missing`, 'without it nothing can be checked');
  const sums = readFileSync(join(folder, SUMS));
  if (!areSumsSigned(sums, readFileSync(join(folder, SIGNATURE)), publicKeyPem))
    throw refused('the signature is not good', `${SIGNATURE} is not that of ${SUMS} by this key`);
  const files = parseSums(sums.toString());
  for (const { name, sha256 } of files) {
    const path = join(folder, name);
    if (!existsSync(path)) throw refused(`${name} is missing`, `${SUMS} names it`);
    if ((await sha256Of(path)) !== sha256) throw refused(`${name} was changed`, `its digest is not the one in ${SUMS}`);
  }
  return files;
}

function refused(message: string, why: string): UserError {
  return new UserError('RELEASE_NOT_VERIFIED', message, {
    why,
    fix: 'do not use these files; get the release again, and its key from the project',
  });
}
