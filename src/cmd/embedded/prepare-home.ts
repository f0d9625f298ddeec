import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../base/errors.ts';

/** Our folder is ours alone: others may pass through (QEMU's user does) but neither list nor write. */
export function prepareHome(home: string): void {
  mkdirSync(home, { recursive: true });
  const { mode, uid } = statSync(home);
  if ((mode & 0o022) !== 0 || uid !== process.getuid?.()) {
    throw new UserError('HOME_UNSAFE', `the data folder ${home} can be written by others`, {
      why: 'it holds keys and disks; whoever can write there owns every machine',
      fix: `chmod go-w ${home}, or set VIRT_HOME to a folder of your own`,
    });
  }
  chmodSync(home, 0o711);
  for (const [folder, permissions] of [
    ['run', 0o700],
    ['logs', 0o700],
    ['kubelet', 0o711],
    ['images', 0o700],
    ['volumes', 0o711],
  ] as const) {
    mkdirSync(join(home, folder), { recursive: true });
    chmodSync(join(home, folder), permissions);
  }
}
