/** VirtualMachineBackupTracker: what the backups of a machine build on. */
import { kind } from '../../kind.ts';
import type { KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { USUAL_ROLES } from '../usual-roles.ts';
import type { specSchema, statusSchema } from './vm-backup-tracker-schema.ts';

export type VirtualMachineBackupTracker = KubeObject & {
  readonly kind: 'VirtualMachineBackupTracker';
  readonly spec: Static<typeof specSchema>;
  readonly status?: Static<typeof statusSchema>;
};

export const VM_BACKUP_TRACKERS = kind<VirtualMachineBackupTracker>({
  group: 'backup.kubevirt.io',
  kind: 'VirtualMachineBackupTracker',
  plural: 'virtualmachinebackuptrackers',
  shortNames: ['vmbackuptracker', 'vmbackuptrackers'],
  description: 'What the backups of a machine build on.',
  versions: ['v1alpha1'],
  remark: 'its checkpoint is in QEMU alone: after a start the next backup is a full one',
  columns: [
    { name: 'SourceKind', type: 'string', jsonPath: '.spec.source.kind' },
    { name: 'SourceName', type: 'string', jsonPath: '.spec.source.name' },
    { name: 'LatestCheckpoint', type: 'string', jsonPath: '.status.latestCheckpoint.name' },
    { name: 'CheckpointTime', type: 'date', jsonPath: '.status.latestCheckpoint.creationTime' },
  ],
  subresources: { status: {} },
  roles: USUAL_ROLES,
  access: { 'virt-controller': [{ verbs: ['get', 'list', 'watch'] }, { part: 'status', verbs: ['patch'] }] },
});
