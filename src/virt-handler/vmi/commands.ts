/** The commands that were given to one guest: each runs by itself, and what becomes of it can be looked at. */
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { CommandProgress, CommandState, CommandStates, DomainCommand } from './domain-command.ts';

/** Does what is asked and resolves with what came of it; tells how far it is when that takes long. */
export type RunCommand = (command: DomainCommand, report: (progress: CommandProgress) => void) => Promise<unknown>;
export type CommandsOptions = {
  readonly run: RunCommand;
  readonly clock: Clock;
  readonly onChange: (states: CommandStates) => void;
};

/** Of those that have ended, so many are remembered. */
const MOST_ENDED = 16;

export class Commands {
  readonly #options: CommandsOptions;
  readonly #running = new Map<string, Promise<unknown>>();
  /** In the order in which they were given. */
  #states: CommandStates = {};

  constructor(options: CommandsOptions) {
    this.#options = options;
  }

  /**
   * Resolves with the result, or rejects with what went wrong; nobody has to wait for that. While a command runs under this id no other is
   * begun, and the answer is that of the one which runs.
   */
  give(id: string, command: DomainCommand): Promise<unknown> {
    const running = this.#running.get(id);
    if (running) return running;
    const { run, clock } = this.#options;
    const given = { command, givenAt: clock.now(), tries: (this.#states[id]?.tries ?? 0) + 1 };
    this.#show(id, { ...given, is: 'running' });
    const report = (progress: CommandProgress) => {
      if (this.#running.get(id) === answer) this.#show(id, { ...given, is: 'running', progress });
    };
    const end = (state: CommandState) => {
      this.#running.delete(id);
      this.#show(id, state);
    };
    const answer = Promise.resolve()
      .then(() => run(command, report))
      .then(
        (result) => {
          end({ ...given, is: 'done', endedAt: clock.now(), result });
          return result;
        },
        (error: unknown) => {
          end({ ...given, is: 'failed', endedAt: clock.now(), reason: messageOf(error) });
          throw error;
        },
      );
    answer.catch(() => {}); // that it failed is shown; whoever waits hears it too
    this.#running.set(id, answer);
    return answer;
  }

  #show(id: string, state: CommandState): void {
    const others = Object.entries(this.#states).filter(([each]) => each !== id);
    const ended = others.filter(([, { is }]) => is !== 'running');
    const tooOld = new Set(ended.slice(0, Math.max(0, ended.length - MOST_ENDED + 1)));
    this.#states = { ...Object.fromEntries(others.filter((each) => !tooOld.has(each))), [id]: state };
    this.#options.onChange(this.#states);
  }
}
