/** Where QEMU is. */
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../base/errors.ts';

const PROGRAM = 'qemu-system-x86_64';

type Environment = Readonly<Record<string, string | undefined>>;

/** The path of QEMU on PATH; a UserError when there is none. */
export function findQemu(env: Environment = process.env): string {
  for (const folder of (env['PATH'] || '/usr/local/bin:/usr/bin:/bin').split(':')) {
    const path = join(folder || '.', PROGRAM);
    if (isExecutable(path)) return path;
  }
  throw new UserError('QEMU_MISSING', `${PROGRAM} is not on PATH`, {
    why: 'guests are run by QEMU',
    fix: 'apt-get install qemu-system-x86',
    exitCode: 7,
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
