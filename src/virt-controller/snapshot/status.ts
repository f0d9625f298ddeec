/** The status of a snapshot that follows from what was seen and decided. Pure. */
import { type VmSnapshotConditions, vmiIs } from '../../api/kubevirt/condition-reasons.ts';
import { withCondition } from '../../api/kubevirt/conditions.ts';
import { isFinal } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { VmSnapshotStatus } from '../../api/kubevirt/kinds/vm-snapshot.ts';
import type { Condition } from '../../api/meta.ts';
import { timestamp } from '../../base/timestamp.ts';
import { contentNameOf, specToKeep, volumesOf } from './content-for.ts';
import { MEMORY_INDICATION } from './memory.ts';
import type { ObservedVmSnapshot } from './observed.ts';

export type Outcome =
  | { readonly is: 'begun' | 'whole' }
  | { readonly is: 'waiting'; readonly message: string }
  | { readonly is: 'failed'; readonly reason: VmSnapshotConditions['Failure']; readonly message: string };

/** The whole status; compare it with what is there to know whether to write. */
export function snapshotStatus(observed: ObservedVmSnapshot, outcome: Outcome): VmSnapshotStatus {
  const { snapshot, vm, content, now } = observed;
  const before = snapshot.status ?? {};
  const spec = content?.spec.source.virtualMachine?.spec ?? specToKeep(observed);
  const { included, excluded } = spec ? volumesOf(spec.template.spec) : { included: [], excluded: [] };
  const { error: earlier, ...rest } = before;
  const message = outcome.is === 'waiting' || outcome.is === 'failed' ? outcome.message : undefined;
  const error = message === undefined ? undefined : earlier?.message === message ? earlier : { message, time: timestamp(now) };
  return {
    ...rest,
    phase: outcome.is === 'whole' ? 'Succeeded' : outcome.is === 'failed' ? 'Failed' : 'InProgress',
    readyToUse: outcome.is === 'whole',
    ...(vm?.metadata.uid !== undefined && { sourceUID: vm.metadata.uid }),
    ...(outcome.is === 'failed'
      ? {}
      : outcome.is === 'waiting' && !content
        ? {}
        : { virtualMachineSnapshotContentName: contentNameOf(snapshot) }),
    ...(outcome.is === 'whole' && { creationTime: takenAt(observed) }),
    ...(isHowKnown(observed, outcome) && spec ? { indications: [...indicationsOf(observed)] } : {}),
    ...(spec && { snapshotVolumes: { includedVolumes: included.map(({ volumeName }) => volumeName), excludedVolumes: excluded } }),
    ...(error && { error }),
    conditions: conditionsAfter(before.conditions ?? [], outcome, now),
  };
}

/** That memory is kept is told when the machine is asked for it, and not before. */
function isHowKnown({ snapshot }: ObservedVmSnapshot, { is }: Outcome): boolean {
  return snapshot.spec.memory ? is === 'begun' : is !== 'whole';
}

/** The last of the moments that its disks are of; without disks, now. */
function takenAt({ volumeSnapshots, now }: ObservedVmSnapshot): string {
  const times = [...volumeSnapshots.values()].map((made) => made?.status?.creationTime ?? '').sort();
  return times.at(-1) || timestamp(now);
}

/** How it is taken. A guest may end meanwhile: what was said of it stays. */
function indicationsOf({ snapshot, content, vmi, quiesce }: ObservedVmSnapshot): readonly string[] {
  if (snapshot.spec.memory) return snapshot.status?.indications ?? [...(vmi ? ['Online'] : []), MEMORY_INDICATION];
  if (!vmi || isFinal(vmi)) return content ? (snapshot.status?.indications ?? []) : [];
  if (vmiIs(vmi, 'Paused')) return quiesce === 'frozen' ? ['Online', 'GuestAgent', 'Paused'] : ['Online', 'Paused'];
  if (!vmiIs(vmi, 'AgentConnected')) return ['Online', 'NoGuestAgent'];
  return ['Online', quiesce === 'failed' ? 'QuiesceTimeout' : 'GuestAgent'];
}

function conditionsAfter(before: readonly Condition[], outcome: Outcome, now: number): readonly Condition[] {
  const set = (list: readonly Condition[], next: Parameters<typeof withCondition<VmSnapshotConditions>>[1]) =>
    withCondition<VmSnapshotConditions>(list, next, now);
  switch (outcome.is) {
    case 'begun':
      return both(set, before, ['False', 'True', 'InProgress', 'it is being taken']);
    case 'waiting':
      return set(set(before, { type: 'Ready', status: 'False', reason: 'InProgress', message: 'it waits' }), {
        type: 'Progressing',
        status: 'False',
        reason: 'Waiting',
        message: outcome.message,
      });
    case 'whole':
      return both(set, before, ['True', 'False', 'Succeeded', 'it is whole']);
    case 'failed':
      return set(both(set, before, ['False', 'False', 'Failed', outcome.message]), {
        type: 'Failure',
        status: 'True',
        reason: outcome.reason,
        message: outcome.message,
      });
  }
}

type Set = (list: readonly Condition[], next: Parameters<typeof withCondition<VmSnapshotConditions>>[1]) => readonly Condition[];
type Said = readonly [ready: Condition['status'], progressing: Condition['status'], reason: VmSnapshotConditions['Ready'], message: string];

function both(set: Set, list: readonly Condition[], [ready, progressing, reason, message]: Said): readonly Condition[] {
  return set(set(list, { type: 'Ready', status: ready, reason, message }), { type: 'Progressing', status: progressing, reason, message });
}
