/** VirtualMachineBackup: the disks of a running machine at one moment, or what has changed on them, as files on a PVC. */
import { kind } from '../../kind.ts';
import { conditionOf, type KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { USUAL_ROLES } from '../usual-roles.ts';
import type { specSchema, statusSchema } from './vm-backup-schema.ts';

export type VmBackupStatus = Static<typeof statusSchema>;
export type VirtualMachineBackup = KubeObject & {
  readonly kind: 'VirtualMachineBackup';
  readonly spec: Static<typeof specSchema>;
  readonly status?: VmBackupStatus;
};

/** Why there is no other mode than Push. */
export const PULL = 'a backup that is fetched (mode Pull) is not made: use Push to a PVC, and VirtualMachineExport to take that away';

export const VM_BACKUPS = kind<VirtualMachineBackup>({
  group: 'backup.kubevirt.io',
  kind: 'VirtualMachineBackup',
  plural: 'virtualmachinebackups',
  shortNames: ['vmbackup', 'vmbackups'],
  description: 'The disks of a running machine at one moment, or what has changed on them, as files on a PVC.',
  versions: ['v1alpha1'],
  remark: 'Push alone, to a PVC; incremental for as long as QEMU runs, full after that',
  columns: [
    { name: 'SourceKind', type: 'string', jsonPath: '.spec.source.kind' },
    { name: 'SourceName', type: 'string', jsonPath: '.spec.source.name' },
    { name: 'Type', type: 'string', jsonPath: '.status.type' },
    { name: 'CheckpointName', type: 'string', jsonPath: '.status.checkpointName' },
  ],
  subresources: { status: {} },
  roles: USUAL_ROLES,
  refused: { tokenSecretRef: PULL, ttlDuration: PULL },
  access: { 'virt-controller': [{ verbs: ['get', 'list', 'watch', 'patch'] }, { part: 'status', verbs: ['patch'] }] },
});

/** It is over, well or not. */
export function isBackupOver({ status }: VirtualMachineBackup): boolean {
  return (['Done', 'Failed'] as const).some((type) => conditionOf(status?.conditions, type)?.status === 'True');
}
