/** What holds a migration up, as a condition of it: whoever waits for it sees why. It goes when the migration goes on. Pure. */
import type { Pod } from '../../api/core/pod.ts';
import { withCondition } from '../../api/kubevirt/conditions.ts';
import { conditionOf, isDeleting, refOf } from '../../api/meta.ts';
import type { Action, EventToRecord } from '../../reconcile/decision.ts';
import type { ObservedMigration } from './observed.ts';

export type Hold = {
  readonly type:
    | 'migrationAbortRequested'
    | 'migrationBlockedByBackup'
    | 'migrationBlockedByUtilityVolumes'
    | 'migrationRejectedByResourceQuota'
    | 'PodScheduled'
    | 'Synchronized';
  /** True unless it is said. */
  readonly status?: 'False';
  readonly reason: string;
  readonly message: string;
};

/** Written when it is new; what was shown before is over. The event is told once. */
export function showHold(
  { migration, now }: Pick<ObservedMigration, 'migration' | 'now'>,
  hold: Hold,
  event?: EventToRecord,
): readonly Action[] {
  const shown = migration.status?.conditions?.filter(({ type }) => type === hold.type) ?? [];
  const conditions = withCondition<Record<Hold['type'], string>>(shown, { status: 'True', ...hold }, now);
  if (conditions === shown) return [];
  const { resourceVersion } = migration.metadata;
  const isNew = shown.length === 0;
  const write = { target: refOf(migration), subresource: 'status', patch: { status: { conditions } }, resourceVersion } as const;
  return [{ do: 'patch', ...write, because: hold.message, ...(event && isNew && { event }) }];
}

/** Why the Pod that it is to go to could not be made. */
export function rejectedHold(createError: string): Hold {
  if (/exceeded quota/i.test(createError))
    return { type: 'migrationRejectedByResourceQuota', reason: 'ExceededQuota', message: createError };
  return { type: 'Synchronized', status: 'False', reason: 'FailedCreate', message: createError };
}

/** Why that Pod finds no node; undefined while nobody has looked, and when it has one. */
export function unplacedHold(pod: Pod | undefined): Hold | undefined {
  if (!pod || pod.spec.nodeName || isDeleting(pod)) return undefined;
  const scheduled = conditionOf(pod.status?.conditions, 'PodScheduled');
  if (scheduled?.status !== 'False' || scheduled.reason !== 'Unschedulable') return undefined;
  return { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: scheduled.message ?? 'no node fits' };
}
