/** Tells the terminal that a program has as its stdin how large the window of the client is. */
import { spawn } from 'node:child_process';
import type { ProcessIdentity } from '../../../base/node/process-identity.ts';
import type { TerminalSize } from './client-streams.ts';

type Options = {
  /** The program; undefined when there is none. */
  readonly program: () => Promise<ProcessIdentity | undefined>;
  readonly isOver: () => boolean;
};

/** One at a time, and of many the last: a window that is dragged has hundreds of sizes. */
export function sizeFollower({ program, isOver }: Options): (size: TerminalSize) => void {
  let next: TerminalSize | undefined;
  let isAtWork = false;
  async function follow(): Promise<void> {
    isAtWork = true;
    const inside = await program();
    while (inside && next && !isOver()) {
      const { width, height } = next;
      next = undefined;
      // It is of another mount namespace, so it has no path here but this.
      const stty = spawn('stty', ['-F', `/proc/${inside.pid}/fd/0`, 'cols', String(width), 'rows', String(height)], { stdio: 'ignore' });
      await new Promise<void>((resolve) => void stty.once('exit', () => resolve()).once('error', () => resolve()));
    }
    isAtWork = false;
  }
  return (size) => {
    next = size;
    if (!isAtWork) void follow();
  };
}
