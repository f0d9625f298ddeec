/** One more program in a running container: how it is told of a terminal's size, and how it is ended with all that it started. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import type { Clock } from '../../../base/clock.ts';
import { identify, type ProcessIdentity, signalProcess } from '../../../base/node/process-identity.ts';
import type { TerminalSize } from './client-streams.ts';

type Options = {
  readonly child: ChildProcessWithoutNullStreams;
  readonly hasTerminal: boolean;
  /** Gone when the program has ended. */
  readonly files: readonly string[];
  /** The program's number, once crun has written it down. */
  readonly readPid: () => number | undefined;
  readonly clock: Clock;
};

const LOOK_MS = 20;
const LOOKS = 250;

export class ExecProcess {
  readonly child: ChildProcessWithoutNullStreams;
  readonly hasTerminal: boolean;
  readonly #options: Options;
  readonly #self: ProcessIdentity | undefined;
  #isOver = false;
  #size: TerminalSize | undefined;
  #isResizing = false;

  constructor(options: Options) {
    this.child = options.child;
    this.hasTerminal = options.hasTerminal;
    this.#options = options;
    this.#self = options.child.pid === undefined ? undefined : identify(options.child.pid);
    const over = () => {
      this.#isOver = true;
      for (const file of options.files) rmSync(file, { force: true });
    };
    this.child.once('close', over).once('error', over);
  }

  /** Ends the program with what it started: on a terminal that is a group of its own, otherwise it is in that of crun. */
  async end(): Promise<void> {
    const inside = await this.started();
    for (const to of ['group', 'process'] as const) if (inside) signalProcess(inside, 'SIGKILL', to);
    if (this.#self) signalProcess(this.#self, 'SIGKILL', 'group');
  }

  /** One at a time, and of many the last: a window that is dragged has hundreds of sizes. */
  resize(size: TerminalSize): void {
    if (!this.hasTerminal) return;
    this.#size = size;
    if (!this.#isResizing) void this.#followSize();
  }

  async #followSize(): Promise<void> {
    this.#isResizing = true;
    const inside = await this.started();
    while (inside && this.#size && !this.#isOver) {
      const { width, height } = this.#size;
      this.#size = undefined;
      // The terminal is what the program has as its stdin; it is of another mount namespace, so it has no path here but this.
      const stty = spawn('stty', ['-F', `/proc/${inside.pid}/fd/0`, 'cols', String(width), 'rows', String(height)], { stdio: 'ignore' });
      await new Promise<void>((resolve) => void stty.once('exit', () => resolve()).once('error', () => resolve()));
    }
    this.#isResizing = false;
  }

  /** The program itself, once crun has started it; undefined when it never did. */
  async started(): Promise<ProcessIdentity | undefined> {
    for (let look = 0; look < LOOKS && !this.#isOver; look++) {
      const pid = this.#options.readPid();
      if (pid !== undefined) return identify(pid);
      await this.#options.clock.sleep(LOOK_MS);
    }
    return undefined;
  }
}
