/**
 * Where the lines of a log go when that is a file: it has a limit, what came before is kept once beside it (FILE.1), and a disk that is full
 * costs lines, never the program. Node's own stream of standard output ends the program in that case, or is silent for good.
 */
import { copyFileSync, fstatSync, ftruncateSync, readlinkSync, rmSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';

const MAX_BYTES = 10 * 2 ** 20;
/** How much is written between two looks at the size. */
const LOOK_EVERY_BYTES = 2 ** 18;

export type LogOutput = (line: string) => void;

/** Writes lines to an open file, at its end; `otherwise` gets them when it is no file but a terminal or a pipe. */
export function createLogOutput(fd: number, otherwise: LogOutput, maxBytes = MAX_BYTES): LogOutput {
  if (isatty(fd) || fstatSync(fd).isFIFO() || fstatSync(fd).isSocket()) return otherwise;
  let unseen = LOOK_EVERY_BYTES;
  return (line) => {
    try {
      unseen += writeSync(fd, `${line}\n`);
      if (unseen < Math.min(LOOK_EVERY_BYTES, maxBytes)) return;
      unseen = 0;
      if (fstatSync(fd).size > maxBytes) startAnew(fd);
    } catch {
      // no room: the next line tries again
    }
  };
}

/** Whoever else has the file open for appending goes on at its new beginning. One that somebody removed has no name, and still takes room. */
function startAnew(fd: number): void {
  if (fstatSync(fd).nlink > 0) keepCopy(readlinkSync(`/proc/self/fd/${fd}`));
  ftruncateSync(fd);
}

function keepCopy(path: string): void {
  try {
    copyFileSync(path, `${path}.1`);
  } catch (error) {
    rmSync(`${path}.1`, { force: true }); // half a copy would keep the room that is missing
    throw error;
  }
}
