/**
 * What should happen to an instance whose Pod somebody wanted to evict, as `kubectl drain` does. First match wins.
 *
 *   what is seen                                       what follows
 *   nobody has asked, it is over, or it is ending      nothing
 *   it has left the node that it was to leave          take the mark off
 *   it is somebody else's to move (External, None)     nothing
 *   it cannot be moved                                 nothing: the eviction stays refused, and says so
 *   a migration of it is under way                     wait for that
 *   the last one failed a moment ago                   look again: after 20 s, and twice as long after each that fails then
 *   anything else                                      make a migration
 *
 * How many are under way at once is up to the migrations. Pure.
 */
import { vmiIs } from '../../api/kubevirt/condition-reasons.ts';
import { isMigrationFinal, MIGRATIONS, type VirtualMachineInstanceMigration } from '../../api/kubevirt/kinds/migration.ts';
import { isFinal, type VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ANNOTATION_EVACUATION_MIGRATION } from '../../api/kubevirt/names.ts';
import { isDeleting, refOf } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { type Decision, nothingToDo } from '../../reconcile/decision.ts';
import { nextSuffix, waitForNextMs } from '../migration/again.ts';

export type ObservedEvacuation = {
  readonly vmi: VirtualMachineInstance;
  /** Of this instance, whatever made them. */
  readonly migrations: readonly VirtualMachineInstanceMigration[];
  readonly now: number;
};

const MOVED = ['LiveMigrate', 'LiveMigrateIfPossible'];
/** A move that failed is likely to fail again at once. */
const AGAIN_MS = 20_000;

export function decideEvacuation({ vmi, migrations, now }: ObservedEvacuation): Decision {
  const { evacuationNodeName: from, nodeName } = vmi.status ?? {};
  if (!from || isFinal(vmi) || isDeleting(vmi)) return nothingToDo;
  if (nodeName !== from) {
    const because = `it has left node ${from}`;
    const { resourceVersion } = vmi.metadata;
    return { actions: [{ do: 'patch', target: refOf(vmi), patch: { status: { evacuationNodeName: null } }, resourceVersion, because }] };
  }
  if (!MOVED.includes(vmi.spec.evictionStrategy ?? '') || !vmiIs(vmi, 'LiveMigratable')) return nothingToDo;
  if (migrations.some((migration) => !isMigrationFinal(migration))) return nothingToDo;
  const waitMs = waitForNextMs({ migrations, firstMs: AGAIN_MS, now });
  if (waitMs > 0) return { actions: [], lookAgainAfterMs: waitMs };
  const object = migrationFor(vmi, from, nextSuffix(migrations));
  const because = `its Pod is to be evicted from node ${from}`;
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
