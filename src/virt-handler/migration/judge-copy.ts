/**
 * What is done about a copy that is not at its end. First match wins.
 *
 *   what is seen                                                   what follows
 *   the time is over, and the guest may stand still                it does, and the time is doubled
 *   the time is over                                               the move ends
 *   for a while there were never fewer bytes left than before      the move ends
 *   anything else                                                  wait
 *
 * Pure.
 */
import type { SendLimits } from '../vmi/domain-command.ts';

export type Copy = {
  /** Since the move began. */
  readonly elapsedMs: number;
  readonly limitMs: number;
  /** Bytes that were left of this copy when it was last looked at, and when there were last fewer than before. */
  readonly left: number;
  readonly nearerAtMs: number;
  readonly isStandingStill: boolean;
};

export type Verdict = 'wait' | 'stand still' | 'too long' | 'stuck';

export function judgeCopy(copy: Copy, { progressMs, mayStandStill }: Pick<SendLimits, 'progressMs' | 'mayStandStill'>): Verdict {
  const { elapsedMs, limitMs, nearerAtMs, isStandingStill } = copy;
  const isOver = elapsedMs >= limitMs * (isStandingStill ? 2 : 1);
  if (isOver && mayStandStill && !isStandingStill) return 'stand still';
  if (isOver) return 'too long';
  return elapsedMs - nearerAtMs >= progressMs ? 'stuck' : 'wait';
}

/** The copy as it is seen now. What the guest has written meanwhile is left to copy again: there may be more of it than a moment ago. */
export function followCopy(before: Copy, { left, elapsedMs }: { readonly left: number; readonly elapsedMs: number }): Copy {
  return { ...before, elapsedMs, left, ...(left < before.left && { nearerAtMs: elapsedMs }) };
}
