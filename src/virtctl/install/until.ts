/** Waits for something on a cluster, with bounds; what was last seen is shown, and told when time is over. */
import type { Clock } from '../../base/clock.ts';
import { humanDuration } from '../../base/duration.ts';
import { ApiError, UserError } from '../../base/errors.ts';
import type { Step } from '../progress.ts';

const LOOK_EVERY_MS = 500;

export type Waiting = {
  readonly what: string;
  readonly step: Step;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Undefined when it is there. */
  readonly look: () => Promise<Missing | undefined>;
  /** Told once for each thing that waiting alone may not mend. */
  readonly note?: (text: string) => void;
};
export type Missing = { readonly text: string; readonly needsHelp?: boolean };

export async function untilThere({ what, step, clock, timeoutMs, look, note }: Waiting): Promise<void> {
  const deadline = clock.steady() + timeoutMs;
  let last = '';
  for (;;) {
    const missing = await lookPatiently(look);
    if (missing === undefined) return;
    const { text, needsHelp } = missing;
    step.update(text);
    if (needsHelp && text !== last) note?.(text);
    last = text;
    if (clock.steady() > deadline)
      throw new UserError('NOT_IN_TIME', `${what}, not within ${humanDuration(timeoutMs)}`, {
        why: text,
        fix: 'fix that; it is retried by itself, and the same command again waits for it',
        exitCode: 5,
      });
    await clock.sleep(LOOK_EVERY_MS);
  }
}

/** A server that is busy or just coming up is asked again. */
async function lookPatiently(look: Waiting['look']): Promise<Missing | undefined> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof ApiError && (error.code >= 500 || error.code === 429)) return { text: error.message };
    throw error;
  }
}
