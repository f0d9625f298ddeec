/**
 * Storage that shares no blocks copies a disk, and a disk that is written meanwhile has no copy of one moment. Its guest is paused for that: then all
 * disks are of one moment, whatever is in the guest. Who is paused stands in the status of the snapshot before it is done, so that whoever was killed
 * lets it go on. First match wins.
 *
 *   when                                                                     then
 *   nobody is paused, a VolumeSnapshot says that its disk is being written   name the instance in the status
 *     and it may not be paused                                               say so with the reason
 *   nobody is paused                                                         nothing
 *   all are taken, or that instance does not run any more                    let it go on, take its name away
 *   it runs yet, and VolumeSnapshots are there                               delete those: they are of moments before
 *   it runs yet                                                              pause it
 *   a VolumeSnapshot says that it cannot be taken, whatever the reason       the snapshot fails: a guest does not stand still for nothing
 *   otherwise                                                                nothing: they are being taken
 *
 * Pure: no clock, no I/O, no randomness.
 */
import { BEING_WRITTEN, type VolumeSnapshot } from '../../api/core/volume-snapshot.ts';
import { vmiIs } from '../../api/kubevirt/condition-reasons.ts';
import { isFinal, type VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { vmiRefusalOf } from '../../api/kubevirt/vm-can.ts';
import type { ObservedVmSnapshot } from './observed.ts';

export type StandStill =
  | { readonly do: 'nothing' | 'discard' | 'pause' | 'let run' }
  | { readonly do: 'name'; readonly instanceUID: string }
  | { readonly do: 'say' | 'fail'; readonly message: string };

const NOTHING: StandStill = { do: 'nothing' };

/** The rules above, for VolumeSnapshots of a snapshot whose machine is marked. */
export function standStillStep(observed: ObservedVmSnapshot, made: readonly (VolumeSnapshot | undefined)[]): StandStill {
  const { snapshot, vmi } = observed;
  const isTaken = made.every((each) => each?.status?.creationTime !== undefined);
  const errors = made.flatMap((each) => each?.status?.error?.message ?? []);
  if (snapshot.status?.pausedInstanceUID === undefined) {
    const written = errors.find((message) => message.includes(BEING_WRITTEN));
    if (isTaken || written === undefined || !vmi || !isOnline(vmi) || vmiIs(vmi, 'Paused')) return NOTHING;
    const refusal = vmiRefusalOf('pause', vmi);
    return refusal
      ? { do: 'say', message: `${written}, and its guest cannot be paused for that: ${refusal.message}` }
      : { do: 'name', instanceUID: vmi.metadata.uid ?? '' };
  }
  if (isTaken || !isPausedFor(observed)) return { do: 'let run' };
  if (!vmi || !vmiIs(vmi, 'Paused')) return made.some((each) => each) ? { do: 'discard' } : { do: 'pause' };
  const [message] = errors;
  return message === undefined ? NOTHING : { do: 'fail', message };
}

/** The instance that is paused, or about to be, is there and runs. */
export function isPausedFor({ snapshot, vmi }: Pick<ObservedVmSnapshot, 'snapshot' | 'vmi'>): boolean {
  const uid = snapshot.status?.pausedInstanceUID;
  return uid !== undefined && vmi?.metadata.uid === uid && isOnline(vmi);
}

/** It has a guest that may write. */
export function isOnline(vmi: VirtualMachineInstance): boolean {
  return !isFinal(vmi) && vmi.status?.phase === 'Running';
}
