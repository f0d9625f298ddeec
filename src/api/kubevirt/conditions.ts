/** Changing one condition among others, by the rule all our kinds share: what did not change keeps its time stamp, and its list. */
import { timestamp } from '../../base/clock.ts';
import type { Condition } from '../meta.ts';

export type NewCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/**
 * The list with this condition in it; the same list when it says that already. A new wording is told but is no transition. So a message has
 * to follow from what was observed: one that changes by itself, with every look, would be written with every look.
 */
export function withCondition(conditions: readonly Condition[], next: NewCondition, now: number): readonly Condition[] {
  const at = conditions.findIndex(({ type }) => type === next.type);
  const old = conditions[at];
  const isTransition = !old || old.status !== next.status || (old.reason ?? '') !== (next.reason ?? '');
  if (!isTransition && (old.message ?? '') === (next.message ?? '')) return conditions;
  const since = isTransition ? undefined : old.lastTransitionTime;
  const stamped: Condition = { ...next, lastTransitionTime: since ?? timestamp(now) };
  return old ? conditions.with(at, stamped) : [...conditions, stamped];
}

/** The list without conditions of this type; the same list when there is none. */
export function withoutCondition(conditions: readonly Condition[], type: string): readonly Condition[] {
  return conditions.some((condition) => condition.type === type) ? conditions.filter((condition) => condition.type !== type) : conditions;
}
