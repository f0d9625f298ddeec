/** One more program in a running container: how it is told of a terminal's size, and how it is ended with all that it started. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { rmSync } from 'node:fs';
import type { Clock } from '../../../base/clock.ts';
import { identify, type ProcessIdentity, signalProcess } from '../../../base/node/process-identity.ts';
import type { TerminalSize } from './client-streams.ts';
import { sizeFollower } from './terminal-size.ts';

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
  readonly #follow: (size: TerminalSize) => void;

  constructor(options: Options) {
    this.child = options.child;
    this.hasTerminal = options.hasTerminal;
    this.#options = options;
    this.#self = options.child.pid === undefined ? undefined : identify(options.child.pid);
    this.#follow = sizeFollower({ program: () => this.started(), isOver: () => this.#isOver });
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

  resize(size: TerminalSize): void {
    if (this.hasTerminal) this.#follow(size);
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
