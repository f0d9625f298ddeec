/**
 * What virt-controller says of the hotplugged volumes of an instance. virt-handler takes over where it can reach the disk.
 *
 *   volume      phase before                   what is seen              phase after
 *   wanted      none, Pending, Bound           no claim                  Pending (FailedPvcNotFound)
 *   wanted      none, Pending, Bound           claim, no Pod that runs   Bound, or Pending while the claim is not bound; the message says when it is not filled
 *   wanted      Pending, Bound                 its Pod runs              AttachedToNode; MountedToPod and Ready are virt-handler's
 *   wanted      AttachedToNode                 its Pod has ended         the same, with what that said: another one is tried
 *   wanted      UnMountedFromPod               its Pod is gone           as if it were new
 *   unwanted    Pending, Bound                                           UnMountedFromPod: no virt-handler has touched it
 *   unwanted    AttachedToNode to Ready                                  Detaching; UnMountedFromPod is virt-handler's
 *   unwanted    UnMountedFromPod               its Pod is gone           no entry any more
 *
 * Both write on condition that nobody else wrote in between, so neither acts on a phase that the other has left. Pure.
 */
import { isPodFinal, type Pod } from '../../api/core/pod.ts';
import { type HotplugPhase, hotplugDisksOf } from '../../api/kubevirt/hotplug.ts';
import type { VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { isFinal } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { Volume } from '../../api/kubevirt/vmi-spec-schema.ts';
import { claimOf } from '../../api/kubevirt/volumes/source-of.ts';
import { ATTACH_CONTAINER, attachmentPodNameOf } from '../../api/launcher/attachment.ts';
import { isDeleting } from '../../api/meta.ts';
import type { ObservedVmi } from './observed.ts';
import { claimInfo } from './volume-status.ts';

/** Of what a program said. */
const MOST_MESSAGE = 500;

export type VolumeStatus = NonNullable<VmiStatus['volumeStatus']>[number];

/** Every volume of the status as it is to be: those that were there at the start stay as they are. */
export function withHotplugged(observed: ObservedVmi, volumeStatus: VmiStatus['volumeStatus']): VmiStatus['volumeStatus'] {
  const { vmi } = observed;
  const wanted = new Map(hotplugDisksOf(vmi.spec).map(({ volume }) => [volume.name, volume]));
  const isPlugged = ({ hotplugVolume, memoryDumpVolume }: VolumeStatus) => hotplugVolume !== undefined && memoryDumpVolume === undefined;
  const known = (volumeStatus ?? []).filter(isPlugged);
  if (isFinal(vmi) || (wanted.size === 0 && known.length === 0)) return volumeStatus;
  const started = (volumeStatus ?? []).filter((entry) => !isPlugged(entry));
  const names = [...new Set([...wanted.keys(), ...known.map(({ name }) => name)])];
  const entries = names.flatMap((name) => {
    const before = known.find((each) => each.name === name);
    const volume = wanted.get(name);
    const pod = attachmentOf(observed, name);
    return volume ? [ofWanted({ volume, before, pod }, observed)] : ofUnwanted(before, pod);
  });
  return [...started, ...entries].toSorted((a, b) => a.name.localeCompare(b.name));
}

/** The Pod that attaches a volume, if there is one. */
export function attachmentOf({ vmi, attachments = [] }: ObservedVmi, volume: string): Pod | undefined {
  return attachments.find(({ metadata }) => metadata.name === attachmentPodNameOf(vmi, volume));
}

/** The volume is on its way out, or out: nothing is made for it before that has ended. */
export function isLeaving({ phase }: Pick<VolumeStatus, 'phase'>): boolean {
  return phase === 'Detaching' || phase === 'UnMountedFromPod';
}

type Wanted = { readonly volume: Volume; readonly before: VolumeStatus | undefined; readonly pod: Pod | undefined };

function ofWanted({ volume, before, pod }: Wanted, { hotplugClaims, unfilledHotplugClaims, vmi }: ObservedVmi): VolumeStatus {
  if (before?.phase === 'Detaching' || (before?.phase === 'UnMountedFromPod' && pod)) return before;
  const isNew = before === undefined || before.phase === 'UnMountedFromPod';
  const { name } = volume;
  if (!isNew && before.phase !== 'Pending' && before.phase !== 'Bound')
    return pod && isServing(pod) ? { ...before, ...podIn(pod) } : withEnd(before, pod);
  const claimName = claimOf(volume)?.claimName ?? '';
  const info = claimInfo(claimName, hotplugClaims) ?? before?.persistentVolumeClaimInfo;
  const shared = { name, target: '', ...(info && { persistentVolumeClaimInfo: info }) };
  const is = (phase: HotplugPhase, reason: string, message: string): VolumeStatus => ({
    ...shared,
    phase,
    reason,
    message,
    hotplugVolume: {},
  });
  const claim = hotplugClaims?.get(claimName);
  if (hotplugClaims && !claim) return is('Pending', 'FailedPvcNotFound', `PVC ${vmi.metadata.namespace}/${claimName} does not exist`);
  if (pod && isServing(pod))
    return { ...is('AttachedToNode', 'SuccessfulCreate', `Created hotplug attachment pod ${pod.metadata.name}`), ...podIn(pod) };
  if (before && !hotplugClaims) return before;
  const isBound = claim?.status?.phase === 'Bound';
  const why = pod ? whyNotServing(pod) : unfilledHotplugClaims?.has(claimName) ? `PVC ${claimName} is not filled yet` : undefined;
  return is(
    isBound ? 'Bound' : 'Pending',
    isBound ? 'PVCBound' : 'PVCPending',
    why ?? `PVC is in phase ${claim?.status?.phase ?? 'Pending'}`,
  );
}

function ofUnwanted(before: VolumeStatus | undefined, pod: Pod | undefined): VolumeStatus[] {
  if (!before) return [];
  const { phase } = before;
  if (phase === 'UnMountedFromPod') return pod ? [before] : [];
  if (phase === 'Detaching') return [before];
  const isTouched = phase === 'AttachedToNode' || phase === 'MountedToPod' || phase === 'Ready';
  const left = { ...before, message: 'The volume is not in the spec any more', reason: 'VolumeUnplugged' };
  return isTouched ? [{ ...left, phase: 'Detaching' }] : pod ? [{ ...left, phase: 'UnMountedFromPod' }] : [];
}

function podIn({ metadata: { name, uid = '' } }: Pod): Pick<VolumeStatus, 'hotplugVolume'> {
  return { hotplugVolume: { attachPodName: name, attachPodUID: uid } };
}

/** Its program has been started: a socket follows, or its end. */
function isServing(pod: Pod): boolean {
  return !isPodFinal(pod) && !isDeleting(pod) && serverOf(pod)?.running !== undefined;
}

function withEnd(before: VolumeStatus, pod: Pod | undefined): VolumeStatus {
  const why = before.phase === 'AttachedToNode' && pod ? whyEnded(pod) : undefined;
  return why === undefined ? before : { ...before, reason: 'HotplugFailed', message: why };
}

/** In the words of the kubelet. */
function whyNotServing(pod: Pod): string | undefined {
  return serverOf(pod)?.terminated ? whyEnded(pod) : serverOf(pod)?.waiting?.message?.trim().slice(-MOST_MESSAGE);
}

/** What its program said last, without the arguments that it repeats. */
export function whyEnded(pod: Pod): string | undefined {
  const said = serverOf(pod)?.terminated?.message?.trim() ?? '';
  const told = said.replace(/^.*--\w[-\w]* \{.*\}: /s, '').slice(-MOST_MESSAGE);
  if (told === '') return undefined;
  return /Failed to get .*lock/.test(told) ? `its disk is in use by another machine or Pod: ${told}` : told;
}

function serverOf({ status }: Pod) {
  return status?.containerStatuses?.find(({ name }) => name === ATTACH_CONTAINER)?.state;
}
