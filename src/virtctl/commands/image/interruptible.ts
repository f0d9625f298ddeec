/** Work with an image that takes a while: its progress, and its end by Ctrl+C. */
import { constants } from 'node:os';
import { UserError } from '../../../base/errors.ts';
import type { Deps } from '../../deps.ts';
import { createProgress, type Progress } from '../../progress.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** On a terminal only, and beside the one line of the result, which is for scripts as well. */
export function progressOf({ stderr, clock }: Deps): Progress {
  if (stderr.isTTY) return createProgress(stderr, clock);
  return {
    async step(_name, work) {
      await work({ update: () => {} });
    },
  };
}

/** Ctrl+C and its like end the work, not the program: what was made for it is removed first, however often the keys are pressed. */
export async function untilInterrupted<T>({ onSignal }: Deps, what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interrupted = new AbortController();
  const interrupt = (by: NodeJS.Signals) => interrupted.abort(by);
  const stopListening = SIGNALS.map((each) => onSignal(each, interrupt));
  try {
    return await work(interrupted.signal);
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    const by = interrupted.signal.reason as (typeof SIGNALS)[number]; // as given above
    throw new UserError('INTERRUPTED', `interrupted before ${what}`, { exitCode: 128 + constants.signals[by] });
  } finally {
    for (const stop of stopListening) stop();
  }
}
