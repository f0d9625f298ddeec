/** Which release last used a data folder, for the next one: an older one may not know what a newer one wrote there. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../errors.ts';
import { isObject } from '../json.ts';
import { isNewerRelease } from '../release-version.ts';

/** Undefined where none has said so. */
export function releaseOfData(home: string): string | undefined {
  try {
    const read: unknown = JSON.parse(readFileSync(pathIn(home), 'utf8'));
    return isObject(read) && typeof read['version'] === 'string' ? read['version'] : undefined;
  } catch {
    return undefined; // not there, or not ours
  }
}

/** Whole or not at all. */
export function noteRelease(home: string, version: string): void {
  const unfinished = `${pathIn(home)}.unfinished`;
  writeFileSync(unfinished, `${JSON.stringify({ version })}\n`, { mode: 0o600 });
  renameSync(unfinished, pathIn(home));
}

/** The objects are now those of a backup, whoever made it. */
export function forgetRelease(home: string): void {
  rmSync(pathIn(home), { force: true });
}

/** Refuses data that a newer release has used. */
export function mustNotBeNewer(used: string | undefined, { home, version }: { readonly home: string; readonly version: string }): void {
  if (used === undefined || !isNewerRelease(used, version)) return;
  throw new UserError('DATA_TOO_NEW', `the data folder ${home} belongs to release ${used}`, {
    why: `this is ${version}, which may not know what that one wrote`,
    fix: `use ${used} or newer; or go back to a backup of before (${join(home, 'backups')}): virtctl restore FILE`,
    exitCode: 4,
  });
}

function pathIn(home: string): string {
  return join(home, 'release.json');
}
