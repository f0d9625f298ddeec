/**
 * What should happen to machines whose launcher Pod has the image of an older installation. For each of them, first match wins.
 *
 *   what is seen                                               what follows
 *   LiveMigrate is among the methods, and it can be moved
 *     a migration of it is under way                           wait
 *     the last one failed                                      look again: after a minute, and twice as long after each that fails then
 *     as many moves are under way as may be                    wait
 *     anything else                                            make a migration: its new Pod has the new image
 *   Evict is among the methods
 *     as many were ended in this interval as may be            look again
 *     anything else                                            delete the instance: its machine starts it anew
 *   anything else                                              it goes on as it is
 *
 * Whatever the methods are, the status of the KubeVirt object says how many there are, and each has a label. Pure.
 */
import type { Pod } from '../../api/core/pod.ts';
import { vmiIs } from '../../api/kubevirt/condition-reasons.ts';
import type { KubeVirt } from '../../api/kubevirt/kinds/kubevirt.ts';
import { isMigrationFinal, MIGRATIONS, type VirtualMachineInstanceMigration } from '../../api/kubevirt/kinds/migration.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ANNOTATION_WORKLOAD_UPDATE_MIGRATION, LABEL_OUTDATED_LAUNCHER } from '../../api/kubevirt/names.ts';
import { isDeleting, refOf } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { parseGoDuration } from '../../base/go-duration.ts';
import type { Action, Decision } from '../../reconcile/decision.ts';
import { nextSuffix, waitForNextMs } from '../migration/again.ts';
import { isOutdated } from './is-outdated.ts';
import type { Mislabelled } from './outdated-machines.ts';

type Machine = {
  readonly vmi: VirtualMachineInstance;
  /** That its guest is in. */
  readonly pod?: Pod | undefined;
  /** Of this instance, whatever made them. */
  readonly migrations: readonly VirtualMachineInstanceMigration[];
};
export type ObservedWorkloads = {
  readonly kubeVirt: KubeVirt;
  readonly launcherImage: string;
  /** How many machines run in a launcher of another image, and some of those whose label says something else. */
  readonly outdated: number;
  readonly mislabelled: readonly Mislabelled[];
  /** All of them where there is a method. */
  readonly machines: readonly Machine[];
  /** Migrations that are not over, and how many there may be. */
  readonly underWay: number;
  readonly parallel: number;
  /** When instances were last ended for this. */
  readonly lastBatchAt?: number | undefined;
  readonly now: number;
};

/** As published. */
const BATCH = 10;
const INTERVAL_MS = 60_000;
/** A move that failed is likely to fail again at once. */
const AGAIN_MS = 60_000;
/** At once: each that is written makes the loop look again. */
export const MOST_LABELS = 50;

export function decideWorkloadUpdate(seen: ObservedWorkloads): Decision {
  if (isDeleting(seen.kubeVirt)) return { actions: [] };
  const update = updateThem(seen);
  return { ...update, actions: [...update.actions, ...show(seen)] };
}

function show({ kubeVirt, outdated, mislabelled }: ObservedWorkloads): readonly Action[] {
  const told = kubeVirt.status?.outdatedVirtualMachineInstanceWorkloads ?? 0;
  const patch = { status: { outdatedVirtualMachineInstanceWorkloads: outdated } };
  const because = `${outdated} machines run in an older launcher`;
  return [
    ...(told === outdated ? [] : [{ do: 'patch', target: refOf(kubeVirt), patch, subresource: 'status', because } as const]),
    ...mislabelled.map(labelOf),
  ];
}

function labelOf({ vmi, isOutdated: isOld }: Mislabelled): Action {
  const patch = { metadata: { labels: { [LABEL_OUTDATED_LAUNCHER]: isOld ? '' : null } } };
  const because = isOld ? 'it runs in an older launcher' : 'it runs in the launcher of this installation';
  return { do: 'patch', target: refOf(vmi), patch, resourceVersion: vmi.metadata.resourceVersion, because };
}

function updateThem(seen: ObservedWorkloads): Decision {
  const { workloadUpdateStrategy: strategy = {} } = seen.kubeVirt.spec;
  const { workloadUpdateMethods: methods = [] } = strategy;
  if (methods.length === 0) return { actions: [] };
  const outdated = seen.machines.filter((machine) => isOutdated(machine, seen.launcherImage));
  const movable = methods.includes('LiveMigrate') ? outdated.filter(({ vmi }) => vmiIs(vmi, 'LiveMigratable')) : [];
  const others = methods.includes('Evict') ? outdated.filter((machine) => !movable.includes(machine)) : [];
  const [moves, ends] = [moveThem(seen, movable), endThem(seen, others)];
  const waits = [moves, ends].flatMap(({ lookAgainAfterMs }) => lookAgainAfterMs ?? []);
  return { actions: [...moves.actions, ...ends.actions], ...(waits.length > 0 && { lookAgainAfterMs: Math.min(...waits) }) };
}

function moveThem({ underWay, parallel, launcherImage, now }: ObservedWorkloads, machines: readonly Machine[]): Decision {
  const idle = machines.filter(({ migrations }) => migrations.every(isMigrationFinal));
  const waitMs = ({ migrations }: Machine) => waitForNextMs({ migrations, firstMs: AGAIN_MS, now });
  const due = idle.filter((machine) => waitMs(machine) <= 0).slice(0, Math.max(0, parallel - underWay));
  const later = idle.map(waitMs).filter((ms) => ms > 0);
  const actions = due.map(({ vmi, migrations }): Action => {
    const object = migrationFor(vmi, nextSuffix(migrations));
    const because = `its launcher has another image than ${launcherImage}`;
    const message = `Created migration ${object.metadata.name}: ${because}`;
    return { do: 'create', object, because, event: { type: 'Normal', reason: 'SuccessfulCreate', message } };
  });
  return { actions, ...(later.length > 0 && { lookAgainAfterMs: Math.min(...later) }) };
}

function endThem({ kubeVirt, lastBatchAt = Number.NEGATIVE_INFINITY, now }: ObservedWorkloads, machines: readonly Machine[]): Decision {
  const { batchEvictionSize = BATCH, batchEvictionInterval = '' } = kubeVirt.spec.workloadUpdateStrategy ?? {};
  if (machines.length === 0) return { actions: [] };
  const intervalMs = parseGoDuration(batchEvictionInterval) ?? INTERVAL_MS;
  const waitMs = lastBatchAt + intervalMs - now;
  if (waitMs > 0) return { actions: [], lookAgainAfterMs: waitMs };
  const batch = machines.slice(0, batchEvictionSize);
  const because = 'its launcher is outdated, and it is not moved';
  return {
    actions: batch.map(({ vmi }): Action => ({ do: 'delete', target: refOf(vmi), because })),
    ...(machines.length > batch.length && { lookAgainAfterMs: intervalMs }),
  };
}

function migrationFor({ metadata }: VirtualMachineInstance, suffix: string): VirtualMachineInstanceMigration {
  const { name, namespace, uid = '', resourceVersion = '' } = metadata;
  return {
    apiVersion: apiVersionOf(MIGRATIONS),
    kind: 'VirtualMachineInstanceMigration',
    metadata: {
      ...(namespace && { namespace }),
      name: `kubevirt-workload-update-${uid.slice(0, 8)}-${suffix}-${resourceVersion}`,
      annotations: { [ANNOTATION_WORKLOAD_UPDATE_MIGRATION]: '' },
    },
    spec: { vmiName: name },
  };
}
