/**
 * A dump of a guest's memory: the Pod that takes it to a PVC, and what virt-controller says of its volume. virt-handler takes over when the Pod runs.
 *
 *   volume     phase before                     what is seen                  phase after
 *   wanted     none, Pending, Bound             no PVC                        Pending (FailedPvcNotFound)
 *   wanted     none, Pending, Bound             the PVC, no Pod that runs     Bound, or Pending while the PVC is not bound
 *   wanted     Pending, Bound                   its Pod runs                  AttachedToNode; what follows is virt-handler's
 *   wanted     Pending, Bound, AttachedToNode   its Pod has ended             MemoryDumpFailed
 *   unwanted   AttachedToNode, InProgress                                     Detaching; UnMountedFromPod is virt-handler's
 *   unwanted   any other                        its Pod is there              UnMountedFromPod
 *   unwanted   any other but Detaching          its Pod is gone               no entry any more
 *
 *   no Pod, the PVC is there, Pending or Bound                                create the Pod, on the node of the guest
 *   not ready 2 min after the PVC was                                         MemoryDumpFailed
 *   completed, failed or not wanted any more                                  delete the Pod
 *
 * Pure.
 */
import { isPodFinal, type Pod } from '../../api/core/pod.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import { isFinal, type VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { dumpEntryOf } from '../../api/kubevirt/memory-dump.ts';
import { dumpClaimNameOf } from '../../api/kubevirt/volumes/dump-volume.ts';
import { DUMP_COMMAND, DUMP_CONTAINER, dumpPodNameOf } from '../../api/launcher/memory-dump.ts';
import { DUMP_VOLUME } from '../../api/launcher/mounts.ts';
import { isDeleting, refOf } from '../../api/meta.ts';
import { type Action, type Decision, nothingToDo } from '../../reconcile/decision.ts';
import type { ObservedVmi } from './observed.ts';
import { currentPod } from './phase.ts';
import { claimInfo } from './volume-status.ts';
import { isWriting, whyWriterEnded, whyWriterNotReady, writerDeadlineOf, writerPodFor } from './writer-pod.ts';

type Entry = NonNullable<VmiStatus['volumeStatus']>[number];

/** How often to look for a PVC that is not there yet. */
const CLAIM_PATIENCE_MS = 1_000;
const BEFORE: readonly Entry['phase'][] = [undefined, 'Pending', 'Bound'];
const OVER: readonly Entry['phase'][] = ['MemoryDumpCompleted', 'MemoryDumpFailed', 'UnMountedFromPod'];

/** The volumes of the status, with the dump as it is to be told. */
export function withMemoryDump(observed: ObservedVmi, volumeStatus: VmiStatus['volumeStatus']): VmiStatus['volumeStatus'] {
  const { vmi } = observed;
  const before = volumeStatus?.find(({ memoryDumpVolume }) => memoryDumpVolume !== undefined);
  const claimName = dumpClaimNameOf(vmi.spec);
  if (isFinal(vmi) || (!before && claimName === undefined)) return volumeStatus;
  const isSame = claimName !== undefined && (!before || before.memoryDumpVolume?.claimName === claimName);
  const after = isSame ? wanted(observed, claimName, before) : unwanted(before, podOf(observed));
  const others = (volumeStatus ?? []).filter((entry) => entry !== before);
  return [...others, ...(after ? [after] : [])].toSorted((a, b) => a.name.localeCompare(b.name));
}

/** The Pod: made, or taken away. */
export function decideMemoryDump(observed: ObservedVmi): Decision {
  const { vmi, now } = observed;
  const [entry, pod, launcher] = [dumpEntryOf(vmi), podOf(observed), currentPod(observed)];
  if (isFinal(vmi) || isDeleting(vmi)) return nothingToDo; // it goes with the launcher Pod
  if (!entry || OVER.includes(entry.phase)) return removeUnused(pod);
  if (!BEFORE.includes(entry.phase) || vmi.status?.phase !== 'Running' || !launcher || isDeleting(launcher)) return nothingToDo;
  if (!observed.dumpClaim) return { actions: [], lookAgainAfterMs: CLAIM_PATIENCE_MS };
  if (!pod) return { actions: [create(observed, launcher, observed.dumpClaim)] };
  const waitMs = writerDeadlineOf(pod, now) - now;
  return waitMs > 0 ? { actions: [], lookAgainAfterMs: waitMs } : nothingToDo;
}

function podOf({ vmi, attachments }: ObservedVmi): Pod | undefined {
  return attachments?.find(({ metadata }) => metadata.name === dumpPodNameOf(vmi));
}

function wanted(observed: ObservedVmi, claimName: string, before: Entry | undefined): Entry {
  const { vmi, dumpClaim: claim, now } = observed;
  const found = podOf(observed);
  const pod = found && !isDeleting(found) ? found : undefined; // one that is ending is that of the last dump
  if (before && !BEFORE.includes(before.phase) && before.phase !== 'AttachedToNode') return before;
  const info = claimInfo(claimName, new Map([[claimName, claim]])) ?? before?.persistentVolumeClaimInfo;
  const is = (phase: Entry['phase'], reason: string, message: string): Entry => ({
    name: claimName,
    target: '',
    phase,
    reason,
    message,
    hotplugVolume: before?.hotplugVolume ?? {},
    memoryDumpVolume: before?.memoryDumpVolume ?? { claimName },
    ...(info && { persistentVolumeClaimInfo: info }),
  });
  const failed = (message: string) => is('MemoryDumpFailed', 'MemoryDumpFailed', message);
  if (pod && isPodFinal(pod)) return failed(whyWriterEnded(pod, DUMP_CONTAINER));
  if (before?.phase === 'AttachedToNode') return pod ? before : failed('the Pod that writes it is gone');
  if (!claim) return is('Pending', 'FailedPvcNotFound', `PVC ${vmi.metadata.namespace}/${claimName} does not exist`);
  if (pod && isWriting(pod, DUMP_CONTAINER)) {
    const { name, uid = '' } = pod.metadata;
    const message = `Created pod ${name} for the dump of the memory`;
    return { ...is('AttachedToNode', 'SuccessfulCreate', message), hotplugVolume: { attachPodName: name, attachPodUID: uid } };
  }
  if (pod && writerDeadlineOf(pod, now) <= now) return failed(whyWriterNotReady(pod, DUMP_CONTAINER));
  const isBound = claim.status?.phase === 'Bound';
  return is(isBound ? 'Bound' : 'Pending', isBound ? 'PVCBound' : 'PVCPending', `PVC is in phase ${claim.status?.phase ?? 'Pending'}`);
}

function unwanted(before: Entry | undefined, pod: Pod | undefined): Entry | undefined {
  if (!before || before.phase === 'Detaching') return before;
  const left = { ...before, reason: 'VolumeUnplugged', message: 'The volume is not in the spec any more' };
  if (before.phase === 'AttachedToNode' || before.phase === 'MemoryDumpInProgress') return { ...left, phase: 'Detaching' };
  return pod ? { ...left, phase: 'UnMountedFromPod' } : undefined;
}

function create({ vmi, launcherImage, containerDisks, configuration }: ObservedVmi, launcher: Pod, claim: PersistentVolumeClaim): Action {
  const object = writerPodFor(vmi, {
    launcher,
    options: { image: launcherImage, containerDisks, ...(configuration && { configuration }) },
    ...{ name: dumpPodNameOf(vmi), generateName: 'memory-dump-', container: DUMP_CONTAINER, command: DUMP_COMMAND },
    ...{ claimName: claim.metadata.name, mount: DUMP_VOLUME },
  });
  return { do: 'create', object, because: 'the memory of the guest is to be dumped' };
}

function removeUnused(pod: Pod | undefined): Decision {
  if (!pod || isDeleting(pod)) return nothingToDo;
  return { actions: [{ do: 'delete', target: refOf(pod), gracePeriodSeconds: 1, because: 'no memory is being dumped' }] };
}
