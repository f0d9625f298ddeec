/**
 * A snapshot with memory is one of a suspended machine: its disks are not written, and its memory is on a PVC like any other. What has to be so
 * before it is taken; first match wins.
 *
 *   its content is there, and the machine is suspended     take it
 *   its content is there, and the machine is not           fail: disks and memory might not be of one moment
 *   suspended, and its instance gone                       take it
 *   on its way into that                                   wait, and tell that it was asked for
 *   on its way out of it                                   wait
 *   it was asked for, and is not suspended                 fail, with what its machine says
 *   a migration of its instance is not over                wait: the guest may be on its way before the instance shows it
 *   it cannot be suspended                                 fail, with the reason
 *   otherwise                                              ask for it
 *
 * That a machine which was suspended for it goes on is its own controller's to do, as soon as the snapshot is over, whoever is killed when. Pure.
 */
import { vmCondition } from '../../api/kubevirt/condition-reasons.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineSnapshotContent } from '../../api/kubevirt/kinds/vm-snapshot-content.ts';
import { refusalOf } from '../../api/kubevirt/vm-can.ts';
import { isObject } from '../../base/json.ts';
import { instanceIn } from '../vm/suspension.ts';
import type { ObservedVmSnapshot } from './observed.ts';

/** The indication of a snapshot with memory: from when the machine was seen to be on its way. */
export const MEMORY_INDICATION = 'Memory';

/** How the memory is called among the volumes that are kept: no volume has such a name. */
export const MEMORY_BACKUP = '-memory';

export type MemoryStep =
  | { readonly do: 'take' | 'tell' }
  | { readonly do: 'wait'; readonly message: string }
  | { readonly do: 'fail'; readonly message: string }
  | { readonly do: 'suspend'; readonly instanceUID: string };

/** The rules above, for a snapshot that is to have memory. */
export function memoryStep(observed: ObservedVmSnapshot, vm: VirtualMachine): MemoryStep {
  const { snapshot, vmi, content } = observed;
  const suspension = vm.status?.suspension;
  if (content) return isStillOf(content, vm) && !vmi ? { do: 'take' } : notKept(vm);
  switch (suspension?.phase) {
    case 'Suspended':
      return vmi || !observed.kept ? { do: 'wait', message: `the instance of ${vm.metadata.name} is not gone yet` } : { do: 'take' };
    case 'Suspending':
      return { do: 'tell' };
    case 'Resuming':
    case 'Discarding':
      return { do: 'wait', message: `${vm.metadata.name} is ${suspension.phase}` };
    case undefined:
  }
  if (snapshot.status?.indications?.includes(MEMORY_INDICATION)) return notKept(vm);
  if (observed.migration !== undefined) return { do: 'wait', message: `${vm.metadata.name} is being moved, by ${observed.migration}` };
  const refused = refusalOf('suspend', { vm: withoutMark(vm), ...(vmi && { vmi }) });
  return refused
    ? { do: 'fail', message: `its memory cannot be kept: ${refused.message}` }
    : { do: 'suspend', instanceUID: vmi?.metadata.uid ?? '' };
}

function isStillOf({ spec }: VirtualMachineSnapshotContent, { status }: VirtualMachine): boolean {
  return spec.memory !== undefined && spec.memory.digest === status?.suspension?.digest;
}

function notKept(vm: VirtualMachine): MemoryStep {
  const said = vmCondition(vm, 'Suspended');
  const why = said?.status === 'False' && said.message ? said.message : `${vm.metadata.name} runs again meanwhile`;
  return { do: 'fail', message: `its memory was not kept: ${why}` };
}

/** The mark is our own. */
function withoutMark(vm: VirtualMachine): VirtualMachine {
  const { snapshotInProgress: _, ...status } = vm.status ?? {};
  return { ...vm, status };
}

type Spec = VirtualMachineSnapshotContent['spec'];
export type Backup = NonNullable<Spec['volumeBackups']>[number];

/** Everything that a VolumeSnapshot is made of: the volumes, and the memory. */
export function backupsOf(content: VirtualMachineSnapshotContent | undefined): readonly Backup[] {
  const { volumeBackups = [], memory } = content?.spec ?? {};
  if (!memory) return volumeBackups;
  const { persistentVolumeClaim, volumeSnapshotName } = memory;
  return [...volumeBackups, { volumeName: MEMORY_BACKUP, persistentVolumeClaim, volumeSnapshotName }];
}

/** What is kept of the memory of a suspended machine; undefined where none is to be. */
export function memoryFor({ snapshot, vm, claims, kept }: ObservedVmSnapshot): Spec['memory'] {
  const { claimName = '', digest, bytes, guestAgent } = vm?.status?.suspension ?? {};
  const [claim, instance] = [claims.get(claimName), instanceIn(kept)];
  if (!snapshot.spec.memory || !claim || !instance || digest === undefined) return undefined;
  const { name, namespace, uid } = claim.metadata;
  type Kept = NonNullable<Spec['memory']>['persistentVolumeClaim'];
  return {
    persistentVolumeClaim: { metadata: { name, namespace, uid }, spec: claim.spec as Kept['spec'] }, // the words are those of Kubernetes
    volumeSnapshotName: `vmsnapshot-${snapshot.metadata.uid}-memory`,
    digest,
    ...(bytes !== undefined && { bytes }),
    guestAgent: guestAgent ?? false,
    instance,
  };
}

/** What the machine was when the instance was started that is suspended now. */
export function suspendedSpec({ vm, kept, revision }: Pick<ObservedVmSnapshot, 'vm' | 'kept' | 'revision'>) {
  const spec = vm?.status?.suspension && kept && isObject(revision?.data) ? revision.data['spec'] : undefined;
  return isObject(spec) ? (spec as VirtualMachine['spec']) : undefined; // written by the controller of machines
}
