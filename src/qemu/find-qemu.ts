/** Where QEMU is. */
import { UserError } from '../base/errors.ts';
import { findProgram } from '../base/node/find-program.ts';

const PROGRAM = 'qemu-system-x86_64';

/** The path of QEMU on PATH; a UserError when there is none. */
export function findQemu(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const path = findProgram(PROGRAM, env['PATH']);
  if (path) return path;
  throw new UserError('QEMU_MISSING', `${PROGRAM} is not on PATH`, {
    why: 'guests are run by QEMU',
    fix: 'apt-get install qemu-system-x86',
    exitCode: 7,
  });
}
