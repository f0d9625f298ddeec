/**
 * What memorydump and removememorydump make of a machine, or why not, in KubeVirt's status codes. First match wins; the states that
 * allow it are in vm-can.ts.
 *
 *   dump     no PVC is named, and none is known from the last dump    400
 *   dump     a name that no volume can have                           400
 *   dump     another PVC is associated                                409
 *   dump     there is no instance                                     404
 *   dump     the state of the machine does not allow it               409
 *   dump     the PVC is not there                                     404
 *   dump     a volume of the machine has its name, or is on it        409
 *   dump     the PVC is a block device, read-only or too small        409
 *   remove   none is associated, or it is being removed               409
 *
 * Pure.
 */
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import { whyNotDumpClaim } from '../../api/kubevirt/memory-dump.ts';
import { type Refusal, refusalOf, type VmSituation } from '../../api/kubevirt/vm-can.ts';
import { isDumpVolume } from '../../api/kubevirt/volumes/dump-volume.ts';
import { claimOf } from '../../api/kubevirt/volumes/source-of.ts';
import { isDeleting, refOf } from '../../api/meta.ts';
import { dnsLabelCauses } from '../../base/dns-name-causes.ts';
import type { Outcome } from './outcome.ts';

type Target = { readonly claimName: string; readonly claim: PersistentVolumeClaim | undefined };

/** The PVC that is meant: the one that is named, or that of the last dump. */
export function dumpClaimNameOf({ vm, claimName }: VmSituation): string {
  return claimName || (vm.status?.memoryDumpRequest?.claimName ?? '');
}

export function decideMemoryDump(situation: VmSituation, { claimName, claim }: Target): Outcome {
  const refused = whyNot(situation, { claimName, claim });
  if (refused) return { refused };
  const { vm } = situation;
  // What is known of the last one goes with it.
  const nothing = { remove: null, startTimestamp: null, endTimestamp: null, fileName: null, message: null };
  return { writes: [writeOf(vm, { ...nothing, claimName, phase: 'Associating' }, `dump memory to PVC ${claimName}`)] };
}

export function decideRemoveMemoryDump(situation: VmSituation): Outcome {
  const refused = refusalOf('removememorydump', situation);
  if (refused) return { refused };
  return { writes: [writeOf(situation.vm, { remove: true }, 'remove the memory dump')] };
}

function writeOf(vm: VmSituation['vm'], memoryDumpRequest: object, because: string) {
  const { resourceVersion } = vm.metadata;
  return {
    do: 'patch',
    target: refOf(vm),
    subresource: 'status',
    patch: { status: { memoryDumpRequest } },
    resourceVersion,
    because,
  } as const;
}

function whyNot(situation: VmSituation, { claimName, claim }: Target): Refusal | undefined {
  const { vm, vmi } = situation;
  if (claimName === '') return { reason: 'BadRequest', message: 'Memory dump requires claim name to be set' };
  const [badName] = dnsLabelCauses('claimName', claimName);
  if (badName) return { reason: 'BadRequest', message: `${badName.field}: ${badName.message}` };
  const last = vm.status?.memoryDumpRequest?.claimName;
  if (last !== undefined && last !== claimName)
    return conflict(`PVC ${last} is associated with the VM for its memory dumps: virtctl memory-dump remove lets go of it`);
  if (!vmi) return { reason: 'NotFound', message: 'VM is not running: it has no instance' };
  const refused = refusalOf('memorydump', situation);
  if (refused) return refused;
  if (!claim || isDeleting(claim)) return { reason: 'NotFound', message: `PVC ${vm.metadata.namespace}/${claimName} not found` };
  const used = [...(vm.spec.template.spec.volumes ?? []), ...(vmi.spec.volumes ?? [])].filter((each) => !isDumpVolume(each));
  const other = used.find((each) => each.name === claimName || claimOf(each)?.claimName === claimName);
  if (other)
    return conflict(
      `volume ${other.name} of the VM ${other.name === claimName ? 'has this name' : `is on PVC ${claimName}`}: use another PVC`,
    );
  const unfit = whyNotDumpClaim(claim, vmi.spec);
  return unfit === undefined ? undefined : conflict(unfit);
}

function conflict(message: string): Refusal {
  return { reason: 'Conflict', message };
}
