/** A file that was named on the command line, or the standard input. */
import { readFileSync } from 'node:fs';
import { messageOf, UserError } from '../base/errors.ts';

/** Its bytes; `-` is the standard input. A UserError when it cannot be read. */
export function readInput(path: string): Buffer {
  try {
    return readFileSync(path === '-' ? 0 : path);
  } catch (error) {
    throw new UserError('FILE_MISSING', `cannot read ${path}`, { why: messageOf(error), exitCode: 3, cause: error });
  }
}
