/** Changing one condition among others, by the rule all our kinds share: what did not change keeps its time stamp, and its list. */
import { timestamp } from '../../base/timestamp.ts';
import type { Condition } from '../meta.ts';

/** The conditions of a kind as a type, `VmiConditions`: the reasons of each. */
type Reasons = Readonly<Record<string, string>>;
/** For whoever does not say of which kind: no condition at all. */
type None = Readonly<Record<never, never>>;
type Said = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** One of the conditions of a kind. */
export type NewCondition<Kind extends Reasons> = {
  readonly [Type in keyof Kind & string]: {
    readonly type: Type;
    readonly status: Condition['status'];
    readonly reason?: Kind[Type];
    readonly message?: string;
  };
}[keyof Kind & string];

/**
 * The list with this condition in it; the same list when it says that already. A new wording is told but is no transition. So a message has
 * to follow from what was observed: one that changes by itself, with every look, would be written with every look.
 */
export function withCondition<Kind extends Reasons = None>(
  conditions: readonly Condition[],
  next: NewCondition<NoInfer<Kind>>,
  now: number,
): readonly Condition[] {
  const said: Said = next as Said; // each of the union is one
  const at = conditions.findIndex(({ type }) => type === said.type);
  const old = conditions[at];
  const isTransition = !old || old.status !== said.status || (old.reason ?? '') !== (said.reason ?? '');
  if (!isTransition && (old.message ?? '') === (said.message ?? '')) return conditions;
  const since = isTransition ? undefined : old.lastTransitionTime;
  const stamped: Condition = { ...said, lastTransitionTime: since ?? timestamp(now) };
  return old ? conditions.with(at, stamped) : [...conditions, stamped];
}

/** The list without conditions of this type; the same list when there is none. */
export function withoutCondition<Kind extends Reasons = None>(
  conditions: readonly Condition[],
  type: keyof NoInfer<Kind> & string,
): readonly Condition[] {
  return conditions.some((condition) => condition.type === type) ? conditions.filter((condition) => condition.type !== type) : conditions;
}
