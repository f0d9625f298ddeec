/** Every kind of ours: a new kind is a new line here, and `npm run generate` does what follows from its record. */
import { CDI_CONFIGS } from './kinds/cdi-config.ts';
import { CLUSTER_INSTANCETYPES } from './kinds/cluster-instancetype.ts';
import { CLUSTER_PREFERENCES } from './kinds/cluster-preference.ts';
import { DATA_VOLUMES } from './kinds/data-volume.ts';
import { INSTANCETYPES } from './kinds/instancetype.ts';
import { KUBEVIRTS } from './kinds/kubevirt.ts';
import { MIGRATIONS } from './kinds/migration.ts';
import { MIGRATION_POLICIES } from './kinds/migration-policy.ts';
import { OFFLINE_VMS } from './kinds/offline-virtual-machine.ts';
import { POOLS } from './kinds/pool.ts';
import { PREFERENCES } from './kinds/preference.ts';
import { VMIRSS } from './kinds/replica-set.ts';
import { VMS } from './kinds/virtual-machine.ts';
import { VMIS } from './kinds/virtual-machine-instance.ts';
import { VM_BACKUPS } from './kinds/vm-backup.ts';
import { VM_BACKUP_TRACKERS } from './kinds/vm-backup-tracker.ts';
import { VM_CLONES } from './kinds/vm-clone.ts';
import { VM_EXPORTS } from './kinds/vm-export.ts';
import { VM_RESTORES } from './kinds/vm-restore.ts';
import { VM_SNAPSHOTS } from './kinds/vm-snapshot.ts';
import { VM_SNAPSHOT_CONTENTS } from './kinds/vm-snapshot-content.ts';
import { VMI_CONFIGS } from './kinds/vmi-config.ts';
import { VMI_PRESETS } from './kinds/vmi-preset.ts';

export const KINDS = [
  VMS,
  VMIS,
  VMIRSS,
  MIGRATIONS,
  MIGRATION_POLICIES,
  OFFLINE_VMS,
  VMI_CONFIGS,
  VMI_PRESETS,
  INSTANCETYPES,
  CLUSTER_INSTANCETYPES,
  PREFERENCES,
  CLUSTER_PREFERENCES,
  POOLS,
  VM_SNAPSHOTS,
  VM_SNAPSHOT_CONTENTS,
  VM_RESTORES,
  VM_CLONES,
  VM_EXPORTS,
  VM_BACKUPS,
  VM_BACKUP_TRACKERS,
  DATA_VOLUMES,
  CDI_CONFIGS,
  KUBEVIRTS,
] as const;

export type KindName = (typeof KINDS)[number]['kind'];
