/** Builders for an instance on its way: `db`, from node n1 to n2, by the migration m1. */
import type { Pod } from '../../api/core/pod.ts';
import type { MigrationState } from '../../api/kubevirt/kinds/migration.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { LABEL_MIGRATION_TARGET_NODE, LABEL_NODE_NAME } from '../../api/kubevirt/names.ts';
import { launcherPodNameOf } from '../../api/launcher/pod-name.ts';
import { livePod, now, running } from '../vmi/world.testing.ts';

const vmi = running();
export const sourcePod = livePod();
export const targetPod = targetPodOf('m1');
/** Both nodes were told, and nothing has happened yet. */
export const told: MigrationState = toldOf('m1');
export const ready: MigrationState = { ...told, targetNodeAddress: '10.0.0.2', targetDirectMigrationNodePorts: { '8186': 0 } };
export const begun: MigrationState = { ...ready, startTimestamp: new Date(now).toISOString() };

export function moving(migrationState: MigrationState, more: Partial<VirtualMachineInstance['status']> = {}): VirtualMachineInstance {
  const from = running({ migrationState, nodeName: 'n1', ...more });
  const labels = { ...from.metadata.labels, [LABEL_NODE_NAME]: 'n1', [LABEL_MIGRATION_TARGET_NODE]: 'n2' };
  return { ...from, metadata: { ...from.metadata, labels, resourceVersion: '1' } };
}

/** The Pod that this migration moves it to. */
export function targetPodOf(migrationUid: string): Pod {
  const uid = migrationUid === 'm1' ? 'pod-2' : `pod-of-${migrationUid}`;
  return { ...sourcePod, metadata: { ...sourcePod.metadata, name: launcherPodNameOf(vmi, migrationUid), uid } };
}

/** Both nodes were told of this migration. */
export function toldOf(migrationUid: string): MigrationState {
  const targetPodName = targetPodOf(migrationUid).metadata.name;
  return { migrationUid, sourceNode: 'n1', sourcePod: sourcePod.metadata.name, targetNode: 'n2', targetPod: targetPodName };
}
