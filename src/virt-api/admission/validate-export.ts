/** VirtualMachineExport: what must be true of it beyond its schema. */
import { VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { VM_SNAPSHOTS } from '../../api/kubevirt/kinds/vm-snapshot.ts';
import { invalidCause, requiredCause, unsupportedCause } from '../../base/causes.ts';
import { subdomainCauses } from '../../base/dns-name-causes.ts';
import type { StatusCause } from '../../base/errors.ts';
import { parseGoDuration } from '../../base/go-duration.ts';
import { isObject, type JsonObject } from '../../base/json.ts';

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  [VMS.kind]: [VMS.group],
  [VM_SNAPSHOTS.kind]: [VM_SNAPSHOTS.group],
  PersistentVolumeClaim: ['', 'v1'],
};
const KINDS = Object.keys(GROUPS);

/** Every reason to refuse an export. */
export function validateExport({ spec }: JsonObject): StatusCause[] {
  if (!isObject(spec)) return [requiredCause('spec.source', 'what is to be taken away')];
  const { source, tokenSecretRef, ttlDuration } = spec;
  return [
    ...sourceCauses(source),
    ...(typeof tokenSecretRef === 'string' ? subdomainCauses('spec.tokenSecretRef', tokenSecretRef) : []),
    ...(ttlDuration === undefined || parseGoDuration(String(ttlDuration))
      ? []
      : [invalidCause('spec.ttlDuration', ttlDuration, 'must be a time such as 30m')]),
  ];
}

function sourceCauses(source: unknown): StatusCause[] {
  if (!isObject(source)) return [requiredCause('spec.source', 'what is to be taken away')];
  const { apiGroup, kind, name } = source;
  if (typeof kind !== 'string' || !KINDS.includes(kind)) return [unsupportedCause('spec.source.kind', kind, KINDS)];
  const groups = GROUPS[kind] ?? [];
  const isOfGroup = apiGroup === undefined ? kind === 'PersistentVolumeClaim' : groups.includes(String(apiGroup));
  return [
    ...(isOfGroup ? [] : [unsupportedCause('spec.source.apiGroup', apiGroup, groups)]),
    ...(typeof name === 'string' && name ? subdomainCauses('spec.source.name', name) : [requiredCause('spec.source.name', 'its name')]),
  ];
}
