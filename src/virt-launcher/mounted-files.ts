/** The files of a ConfigMap, a Secret or the downward API, as a kubelet mounts them. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { UserError } from '../base/errors.ts';
import type { IsoFiles } from './iso9660.ts';

export const FILES_LABEL = 'cfgdata';
export const SYSPREP_LABEL = 'unattendCD';

/** An object has at most some MiB, and one file per key. */
const MOST = { bytes: 16 * 2 ** 20, files: 10_000, depth: 16 } as const;
const ANSWER_FILE = /^(auto)?unattend\.xml$/i;

/** Every file below a folder, by its path. Names that begin with two dots are the kubelet's own; the others are links to what is in there. */
export function readMountedFiles(folder: string): IsoFiles {
  const files: Record<string, Buffer> = {};
  const left = { bytes: MOST.bytes, files: MOST.files };
  const look = (below: string, depth: number): void => {
    for (const name of readdirSync(join(folder, below)).filter((each) => !each.startsWith('..'))) {
      const path = join(below, name);
      const found = statSync(join(folder, path));
      left.files -= 1;
      left.bytes -= found.isFile() ? found.size : 0;
      if (left.files < 0 || left.bytes < 0 || depth > MOST.depth)
        throw new UserError('VOLUME_TOO_LARGE', 'the files of a volume do not fit on a small disk', { why: 'they have at most 16Mi' });
      if (found.isDirectory()) look(path, depth + 1);
      else if (found.isFile()) files[path] = readFileSync(join(folder, path));
    }
  };
  look('', 0);
  return files;
}

/** The set-up of Windows looks for these names and says nothing when there are none. */
export function requireAnswerFile(files: IsoFiles): void {
  if (Object.keys(files).some((name) => ANSWER_FILE.test(name))) return;
  throw new UserError('SYSPREP_INVALID', 'a sysprep volume has no answer file', {
    why: 'neither autounattend.xml nor unattend.xml is a key of its object',
  });
}
