/** VirtualMachineSnapshot and VirtualMachineRestore: what must be true of them beyond their schemas. */
import { invalidCause, requiredCause, unsupportedCause } from '../../base/causes.ts';
import { subdomainCauses } from '../../base/dns-name-causes.ts';
import type { StatusCause } from '../../base/errors.ts';
import { parseGoDuration } from '../../base/go-duration.ts';
import { deepEqual, isObject, type JsonObject } from '../../base/json.ts';
import type { AdmissionRequest } from './admission-request.ts';

/** Every reason to refuse a snapshot. */
export function validateSnapshot({ spec }: JsonObject): StatusCause[] {
  if (!isObject(spec)) return [requiredCause('spec.source', 'the machine that is to be kept')];
  const { source, failureDeadline } = spec;
  const isDuration = failureDeadline === undefined || parseGoDuration(String(failureDeadline)) !== undefined;
  return [
    ...machineCauses(source, 'spec.source'),
    ...(isDuration ? [] : [invalidCause('spec.failureDeadline', failureDeadline, 'must be a time such as 5m, or 0 for none')]),
  ];
}

/** Every reason to refuse a restore. */
export function validateRestore({ spec }: JsonObject): StatusCause[] {
  if (!isObject(spec)) return [requiredCause('spec.target', 'the machine that is to become what it was')];
  const { target, virtualMachineSnapshotName: name } = spec;
  return [
    ...machineCauses(target, 'spec.target'),
    ...(name ? [] : [requiredCause('spec.virtualMachineSnapshotName', 'the snapshot that the machine is to become')]),
    ...overrideCauses(spec),
  ];
}

function overrideCauses({ volumeRestoreOverrides: overrides, volumeRestorePolicy: policy }: JsonObject): StatusCause[] {
  if (!Array.isArray(overrides)) return []; // the schema has checked it
  return overrides.filter(isObject).flatMap(({ volumeName, restoreName }, index) => {
    const at = `spec.volumeRestoreOverrides[${index}]`;
    const isTwice = overrides.slice(0, index).some((other) => isObject(other) && other['volumeName'] === volumeName);
    if (!volumeName) return [requiredCause(`${at}.volumeName`, 'the volume')];
    if (isTwice) return [invalidCause(`${at}.volumeName`, volumeName, 'there is another line for this volume')];
    if (!restoreName) return [];
    if (policy === 'InPlace') return [invalidCause(`${at}.restoreName`, restoreName, 'a PVC that is restored in place keeps its name')];
    return subdomainCauses(`${at}.restoreName`, String(restoreName));
  });
}

/** What was begun cannot become something else. */
export function validateSameSpec({ object, oldObject }: Pick<AdmissionRequest, 'object' | 'oldObject'>): StatusCause[] {
  if (!object || !oldObject || deepEqual(object['spec'], oldObject['spec'])) return [];
  return [invalidCause('spec', object['spec'], 'spec is immutable after creation')];
}

function machineCauses(said: unknown, at: string): StatusCause[] {
  if (!isObject(said)) return [requiredCause(at, 'a machine')];
  const { apiGroup, kind, name } = said;
  return [
    ...(apiGroup === 'kubevirt.io' ? [] : [unsupportedCause(`${at}.apiGroup`, apiGroup, ['kubevirt.io'])]),
    ...(kind === 'VirtualMachine' ? [] : [unsupportedCause(`${at}.kind`, kind, ['VirtualMachine'])]),
    ...(name ? [] : [requiredCause(`${at}.name`, 'the name of the machine')]),
  ];
}
