/**
 * The Pods that attach volumes to a guest that runs. What they are for is in the status (hotplug-status.ts), which is written first.
 *
 *   volume wanted, its claim is there, no Pod       create the Pod, on the node of the guest
 *   its claim is not filled yet                     look again: whoever fills it makes its disk, and nobody else
 *   the Pod has ended                               delete it after 5 s (Warning), so that another one is tried
 *   the volume is out of the guest                  delete the Pod
 *   the instance ends                               leave them: they go with the launcher Pod
 *
 * Pure.
 */
import { isPodFinal, type Pod } from '../../api/core/pod.ts';
import { hotplugDisksOf } from '../../api/kubevirt/hotplug.ts';
import { isFinal } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { claimOf } from '../../api/kubevirt/volumes/source-of.ts';
import { ATTACH_CONTAINER } from '../../api/launcher/attachment.ts';
import { dumpPodNameOf } from '../../api/launcher/memory-dump.ts';
import { savePodNameOf } from '../../api/launcher/suspension.ts';
import { isDeleting, refOf } from '../../api/meta.ts';
import type { Action, Decision } from '../../reconcile/decision.ts';
import { attachmentPodFor } from './attachment-pod.ts';
import { attachmentOf, isLeaving, whyEnded } from './hotplug-status.ts';
import type { ObservedVmi } from './observed.ts';
import { currentPod } from './phase.ts';

const AGAIN_MS = 5_000;
/** How often to look for a claim that is not there yet. */
const CLAIM_PATIENCE_MS = 1_000;

/** The rules above, for one instance. */
export function decideHotplug(observed: ObservedVmi): Decision {
  const { vmi } = observed;
  if (isFinal(vmi) || isDeleting(vmi)) return { actions: [] };
  const created = hotplugDisksOf(vmi.spec).flatMap((each) => createPod(observed, each));
  const writers = [savePodNameOf(vmi), dumpPodNameOf(vmi)];
  const ended = (observed.attachments ?? []).filter((pod) => isPodFinal(pod) && !isDeleting(pod) && !writers.includes(pod.metadata.name));
  const waits = [
    ...ended.map((pod) => endedAt(pod, observed.now) + AGAIN_MS - observed.now).filter((ms) => ms > 0),
    ...(isWaitingForClaim(observed) ? [CLAIM_PATIENCE_MS] : []),
  ];
  return {
    actions: [...created, ...ended.flatMap((pod) => removeEnded(pod, observed)), ...removeUnused(observed)],
    ...(waits.length > 0 && { lookAgainAfterMs: Math.min(...waits) }),
  };
}

function createPod(observed: ObservedVmi, each: ReturnType<typeof hotplugDisksOf>[number]): Action[] {
  const { vmi, hotplugClaims, launcherImage, containerDisks, configuration } = observed;
  const { phase } = vmi.status ?? {};
  const entry = vmi.status?.volumeStatus?.find(({ name }) => name === each.volume.name);
  const launcher = currentPod(observed);
  const isPlaced =
    (phase === 'Scheduled' || phase === 'Running') && launcher?.spec.nodeName && !isPodFinal(launcher) && !isDeleting(launcher);
  if (!isPlaced || !launcher || !entry?.hotplugVolume || isLeaving(entry) || attachmentOf(observed, each.volume.name)) return [];
  const claimName = claimOf(each.volume)?.claimName ?? '';
  if (!hotplugClaims?.get(claimName) || observed.unfilledHotplugClaims?.has(claimName)) return [];
  const pod = attachmentPodFor(vmi, each, {
    ...{ launcher, image: launcherImage, claims: hotplugClaims, containerDisks },
    ...(configuration && { configuration }),
  });
  const message = `Created attachment pod ${pod.metadata.name}, for volume ${each.volume.name}`;
  return [
    {
      do: 'create',
      object: pod,
      because: `volume ${each.volume.name} is to be attached`,
      event: { type: 'Normal', reason: 'SuccessfulCreate', message },
    },
  ];
}

function removeEnded(pod: Pod, { now }: ObservedVmi): Action[] {
  if (endedAt(pod, now) + AGAIN_MS > now) return [];
  const why = whyEnded(pod);
  const message = `Attachment pod ${pod.metadata.name} ended${why ? `: ${why}` : ''}`;
  return [
    {
      do: 'delete',
      target: refOf(pod),
      because: 'it has ended, and its volume is not attached',
      event: { type: 'Warning', reason: 'HotplugFailed', message },
    },
  ];
}

function removeUnused(observed: ObservedVmi): Action[] {
  const { vmi } = observed;
  return (vmi.status?.volumeStatus ?? []).flatMap((entry): Action[] => {
    const pod =
      entry.hotplugVolume && !entry.memoryDumpVolume && entry.phase === 'UnMountedFromPod' ? attachmentOf(observed, entry.name) : undefined;
    if (!pod || isDeleting(pod) || isPodFinal(pod)) return [];
    const message = `Deleted attachment pod ${pod.metadata.name}, for volume ${entry.name}`;
    return [
      {
        do: 'delete',
        target: refOf(pod),
        because: `volume ${entry.name} is out of the guest`,
        event: { type: 'Normal', reason: 'SuccessfulDelete', message },
      },
    ];
  });
}

function isWaitingForClaim({ vmi, hotplugClaims, unfilledHotplugClaims }: ObservedVmi): boolean {
  return hotplugDisksOf(vmi.spec).some(({ volume }) => {
    const name = claimOf(volume)?.claimName ?? '';
    return hotplugClaims && (!hotplugClaims.get(name) || unfilledHotplugClaims?.has(name));
  });
}

function endedAt(pod: Pod, now: number): number {
  const { finishedAt } = pod.status?.containerStatuses?.find(({ name }) => name === ATTACH_CONTAINER)?.state?.terminated ?? {};
  const at = Date.parse(finishedAt ?? pod.metadata.creationTimestamp ?? '');
  return Number.isNaN(at) ? now : at;
}
