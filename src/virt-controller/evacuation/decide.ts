/**
 * What should happen to an instance whose Pod somebody wanted to evict, as `kubectl drain` does, or whose node has the taint by which machines leave. First match wins.
 *
 *   what is seen                                       what follows
 *   it is over, or it is ending                        nothing
 *   it has left the node that it was to leave          take the mark off
 *   nobody has asked, and its node has no such taint   nothing
 *   it is somebody else's to move (External, None)     nothing
 *   it cannot be moved                                 nothing: the eviction stays refused, and says so
 *   a migration of it is under way                     wait for that
 *   the last one failed a moment ago                   look again: after 20 s, and twice as long after each that fails then
 *   anything else                                      make a migration
 *
 * How many are under way at once is up to the migrations. Pure.
 */
import { vmiIs } from '../../api/kubevirt/condition-reasons.ts';
import type { EvictionStrategy } from '../../api/kubevirt/draining.ts';
import { isMigrationFinal, MIGRATIONS, type VirtualMachineInstanceMigration } from '../../api/kubevirt/kinds/migration.ts';
import { isFinal, type VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ANNOTATION_EVACUATION_MIGRATION } from '../../api/kubevirt/names.ts';
import { isDeleting, refOf } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { type Decision, nothingToDo } from '../../reconcile/decision.ts';
import { nextSuffix, waitForNextMs } from '../migration/again.ts';

export type ObservedEvacuation = {
  readonly vmi: VirtualMachineInstance;
  /** Its own, or that of the installation. */
  readonly strategy: EvictionStrategy;
  /** Its node has the taint. */
  readonly hasToLeave: boolean;
  /** Of this instance, whatever made them. */
  readonly migrations: readonly VirtualMachineInstanceMigration[];
  readonly now: number;
};

const MOVED: readonly EvictionStrategy[] = ['LiveMigrate', 'LiveMigrateIfPossible'];
/** A move that failed is likely to fail again at once. */
const AGAIN_MS = 20_000;

export function decideEvacuation({ vmi, strategy, hasToLeave, migrations, now }: ObservedEvacuation): Decision {
  const { evacuationNodeName: marked, nodeName } = vmi.status ?? {};
  if (isFinal(vmi) || isDeleting(vmi)) return nothingToDo;
  if (marked && nodeName !== marked) {
    const because = `it has left node ${marked}`;
    const { resourceVersion } = vmi.metadata;
    return { actions: [{ do: 'patch', target: refOf(vmi), patch: { status: { evacuationNodeName: null } }, resourceVersion, because }] };
  }
  const from = marked || (hasToLeave ? nodeName : undefined);
  if (!from || !MOVED.includes(strategy) || !vmiIs(vmi, 'LiveMigratable')) return nothingToDo;
  if (migrations.some((migration) => !isMigrationFinal(migration))) return nothingToDo;
  const waitMs = waitForNextMs({ migrations, firstMs: AGAIN_MS, now });
  if (waitMs > 0) return { actions: [], lookAgainAfterMs: waitMs };
  const object = migrationFor(vmi, from, nextSuffix(migrations));
  const because = marked ? `its Pod is to be evicted from node ${from}` : `node ${from} is being drained: it has the taint for that`;
  const message = `Created migration ${object.metadata.name}: ${because}`;
  return { actions: [{ do: 'create', object, because, event: { type: 'Normal', reason: 'SuccessfulCreate', message } }] };
}

function migrationFor({ metadata }: VirtualMachineInstance, from: string, suffix: string): VirtualMachineInstanceMigration {
  const { name, namespace, uid = '', resourceVersion = '' } = metadata;
  return {
    apiVersion: apiVersionOf(MIGRATIONS),
    kind: 'VirtualMachineInstanceMigration',
    metadata: {
      ...(namespace && { namespace }),
      name: `kubevirt-evacuation-${uid.slice(0, 8)}-${suffix}-${resourceVersion}`,
      annotations: { [ANNOTATION_EVACUATION_MIGRATION]: from },
    },
    spec: { vmiName: name },
  };
}
