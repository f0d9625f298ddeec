/**
 * The Pod that takes the memory of a guest to a PVC. First match wins.
 *
 *   the instance is not being saved                     delete the Pod
 *   the guest was stopped to be saved                   leave it: virt-handler says how it ends
 *   no Pod                                              create it, on the node of the guest
 *   the Pod listens                                     tell virt-handler of it
 *   the Pod has ended, or is not ready after 2 min      failed: the guest goes on as if nobody had asked
 *
 * Pure.
 */
import { isPodFinal, type Pod } from '../../api/core/pod.ts';
import { isFinal } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { SAVE_CONTAINER, savePodNameOf } from '../../api/launcher/suspension.ts';
import { conditionOf, isDeleting, refOf } from '../../api/meta.ts';
import { type Action, type Decision, nothingToDo } from '../../reconcile/decision.ts';
import type { ObservedVmi } from './observed.ts';
import { currentPod } from './phase.ts';
import { savePodFor } from './save-pod.ts';

const PATIENCE_MS = 120_000;

/** The rules above, for one instance. */
export function decideSuspension(observed: ObservedVmi): Decision {
  const { vmi, now } = observed;
  const { suspension, phase } = vmi.status ?? {};
  const pod = observed.attachments?.find(({ metadata }) => metadata.name === savePodNameOf(vmi));
  if (suspension?.phase !== 'Saving' || isFinal(vmi) || isDeleting(vmi)) return removeUnused(pod);
  const launcher = currentPod(observed);
  if (suspension.startTimestamp !== undefined || phase !== 'Running' || !launcher || isDeleting(launcher)) return nothingToDo;
  if (!pod) return { actions: [create(observed, launcher)] };
  if (isPodFinal(pod)) return { actions: [fail(observed, `the Pod that writes it ended: ${whyEnded(pod)}`)] };
  if (pod.status?.containerStatuses?.some(({ name, state }) => name === SAVE_CONTAINER && state?.running))
    return suspension.podUID === pod.metadata.uid
      ? nothingToDo
      : { actions: [write(observed, { podUID: pod.metadata.uid }, 'its memory can be written')] };
  const waitMs = (Date.parse(suspension.requestedTimestamp ?? '') || now) + PATIENCE_MS - now;
  return waitMs > 0 ? { actions: [], lookAgainAfterMs: waitMs } : { actions: [fail(observed, whyNotReady(pod))] };
}

function removeUnused(pod: Pod | undefined): Decision {
  if (!pod || isDeleting(pod)) return nothingToDo;
  return { actions: [{ do: 'delete', target: refOf(pod), gracePeriodSeconds: 1, because: 'no memory is being saved' }] };
}

function create({ vmi, launcherImage, containerDisks, configuration }: ObservedVmi, launcher: Pod): Action {
  const object = savePodFor(vmi, { launcher, image: launcherImage, containerDisks, ...(configuration && { configuration }) });
  return { do: 'create', object, because: 'the memory of the guest is to be saved' };
}

function fail(observed: ObservedVmi, message: string): Action {
  return write(observed, { phase: 'Failed', message }, message);
}

/** Whoever was faster, virt-handler included, is not written over. */
function write({ vmi }: ObservedVmi, suspension: object, because: string): Action {
  return {
    do: 'patch',
    target: refOf(vmi),
    patch: { status: { suspension } },
    resourceVersion: vmi.metadata.resourceVersion ?? '',
    because,
  };
}

function whyEnded({ status }: Pod): string {
  const end = status?.containerStatuses?.find(({ name }) => name === SAVE_CONTAINER)?.state?.terminated;
  return end?.message?.trim().slice(-500) || status?.reason || `exit code ${end?.exitCode ?? 'unknown'}`;
}

function whyNotReady({ status }: Pod): string {
  const placed = conditionOf(status?.conditions, 'PodScheduled');
  const waiting = status?.containerStatuses?.find(({ name }) => name === SAVE_CONTAINER)?.state?.waiting;
  const why = placed?.status === 'False' ? placed.message : (waiting?.message ?? waiting?.reason);
  return `the Pod that writes it is not ready after ${PATIENCE_MS / 1000} s${why ? `: ${why}` : ''}`;
}
