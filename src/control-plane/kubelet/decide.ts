/**
 * The next step for one Pod of this node, as a whole: its containers and what the API says of it. First match wins.
 *
 *   what is seen                                        what follows
 *   nobody looks after it yet                           take over what an earlier kubelet left, which may be nothing
 *   cleaned up, gone from the API                       forget it
 *   cleaned up, the API waits for us                    delete the object at once
 *   cleaned up, somebody else holds the object          nothing
 *   a container is to start or stop, or volumes to come do that, and look again: what was done changes what is seen
 *   containers are to be killed                         kill them, then write the status
 *   nothing runs and the Pod is to go                   write the status, clean up, delete the object
 *   anything else                                       write the status, when it differs from what the API has
 *
 * `decide-containers.ts` has the rules for the containers. First the folder goes, then the object: as long as the object is there, somebody
 * is known to be responsible for the folder. Pure: no clock, no I/O.
 */
import { isDeleting, refOf } from '../../api/meta.ts';
import type { Action, Decision } from '../../reconcile/decision.ts';
import { type ContainersAction, decideContainers } from './decide-containers.ts';
import type { ObservedPod } from './observed.ts';
import { derivePodStatus } from './status.ts';
import { statusPatch } from './status-patch.ts';

/** What is done on this node besides writing to the API. */
export type PodAction = ContainersAction | { readonly because: string; readonly do: 'take over' | 'forget' };
export type PodDecision = Decision<PodAction>;

/** Decides the next step; the same input always gives the same answer. */
export function decidePod(observed: ObservedPod): PodDecision {
  const { isNew, isCleanedUp } = observed;
  if (isCleanedUp) return leave(observed);
  if (isNew) return { actions: [{ do: 'take over', because: 'the Pod is on this node' }], lookAgainAfterMs: 0 };
  const { actions, lookAgainAfterMs } = decideContainers(observed);
  if (actions.some(changesWhatIsSeen)) return { actions, lookAgainAfterMs: 0 };
  if (actions.some((action) => action.do === 'clean up'))
    return { actions: [...writeStatus(observed), ...actions, ...deleteObject(observed)], lookAgainAfterMs: 0 };
  return { actions: [...actions, ...writeStatus(observed)], ...(lookAgainAfterMs !== undefined && { lookAgainAfterMs }) };
}

/** Of a kill only the end of the process is to be seen, and that wakes us. */
function changesWhatIsSeen(action: ContainersAction): boolean {
  return action.do === 'prepare' || action.do === 'start' || action.do === 'stop';
}

function leave(observed: ObservedPod): PodDecision {
  if (!observed.pod) return { actions: [{ do: 'forget', because: 'the Pod is gone' }] };
  return { actions: deleteObject(observed) };
}

function deleteObject({ pod }: ObservedPod): Action[] {
  const isDone = !pod || (isDeleting(pod) && pod.metadata.deletionGracePeriodSeconds === 0);
  return isDone ? [] : [{ do: 'delete', target: refOf(pod), gracePeriodSeconds: 0, because: 'nothing of it is left on its node' }];
}

function writeStatus({ pod, containers, volumes, podIP, hostIP, now }: ObservedPod): Action[] {
  const status = pod && podIP !== undefined && statusPatch(pod, derivePodStatus({ pod, containers, volumes, podIP, hostIP, now }));
  if (!status) return [];
  // The list of conditions is replaced as a whole, so it must be built from the very version that it replaces.
  const { resourceVersion } = pod.metadata;
  const because = 'what is seen of it has changed';
  return [{ do: 'patch', target: refOf(pod), subresource: 'status', patch: { status }, resourceVersion, because }];
}
