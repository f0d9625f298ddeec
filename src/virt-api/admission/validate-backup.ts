/** VirtualMachineBackup and VirtualMachineBackupTracker: what must be true of them beyond their schemas. */
import { VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { PULL } from '../../api/kubevirt/kinds/vm-backup.ts';
import { VM_BACKUP_TRACKERS } from '../../api/kubevirt/kinds/vm-backup-tracker.ts';
import { forbiddenCause, requiredCause, unsupportedCause } from '../../base/causes.ts';
import { subdomainCauses } from '../../base/dns-name-causes.ts';
import type { StatusCause } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';

const OF_BACKUP: Readonly<Record<string, string>> = { [VMS.kind]: VMS.group, [VM_BACKUP_TRACKERS.kind]: VM_BACKUP_TRACKERS.group };
const OF_TRACKER: Readonly<Record<string, string>> = { [VMS.kind]: VMS.group };

/** Every reason to refuse a backup. */
export function validateBackup({ spec }: JsonObject): StatusCause[] {
  if (!isObject(spec)) return [requiredCause('spec.source', 'what is to be backed up')];
  const { source, mode, pvcName } = spec;
  return [
    ...sourceCauses(source, OF_BACKUP),
    ...modeCauses(mode),
    ...(typeof pvcName === 'string' && pvcName
      ? subdomainCauses('spec.pvcName', pvcName)
      : [requiredCause('spec.pvcName', 'the PVC that it goes to')]),
  ];
}

/** Every reason to refuse a tracker. */
export function validateBackupTracker({ spec }: JsonObject): StatusCause[] {
  return sourceCauses(isObject(spec) ? spec['source'] : undefined, OF_TRACKER);
}

function modeCauses(mode: unknown): StatusCause[] {
  if (mode === undefined || mode === 'Push') return [];
  return mode === 'Pull' ? [forbiddenCause('spec.mode', PULL)] : [unsupportedCause('spec.mode', mode, ['Push'])];
}

function sourceCauses(source: unknown, groups: Readonly<Record<string, string>>): StatusCause[] {
  if (!isObject(source)) return [requiredCause('spec.source', 'what is to be backed up')];
  const { apiGroup, kind, name } = source;
  const group = typeof kind === 'string' && Object.hasOwn(groups, kind) ? groups[kind] : undefined;
  if (group === undefined) return [unsupportedCause('spec.source.kind', kind, Object.keys(groups))];
  return [
    ...(apiGroup === group ? [] : [unsupportedCause('spec.source.apiGroup', apiGroup, [group])]),
    ...(typeof name === 'string' && name ? subdomainCauses('spec.source.name', name) : [requiredCause('spec.source.name', 'its name')]),
  ];
}
