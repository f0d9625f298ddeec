/** Changing one condition among others, by the rule all our kinds share: what did not change keeps its time stamp. */
import { timestamp } from '../../base/clock.ts';
import type { Condition } from '../meta.ts';

export type NewCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** The list with this condition in it. An equal status and reason leave the old entry as it is: a new wording is not a change. */
export function withCondition(conditions: readonly Condition[], next: NewCondition, now: number): readonly Condition[] {
  const at = conditions.findIndex(({ type }) => type === next.type);
  const old = conditions[at];
  if (old && old.status === next.status && old.reason === next.reason) return conditions;
  const stamped: Condition = { ...next, lastTransitionTime: timestamp(now) };
  return old ? conditions.with(at, stamped) : [...conditions, stamped];
}

/** The list without conditions of this type. */
export function withoutCondition(conditions: readonly Condition[], type: string): readonly Condition[] {
  return conditions.filter((condition) => condition.type !== type);
}
