/** A Pod whose Job is gone is counted by nobody: its finalizer goes, or the Pod would stay for ever. Pure. */
import type { Pod } from '../../../api/core/pod.ts';
import { refOf } from '../../../api/meta.ts';
import { type Decision, nothingToDo } from '../../../reconcile/decision.ts';
import { FINALIZER_JOB_TRACKING, isTracked } from './tally.ts';

export type ObservedLostPod = {
  readonly pod: Pod;
  /** The server, asked just now, knows its Job. */
  readonly hasJob: boolean;
};

export function decideLostPod({ pod, hasJob }: ObservedLostPod): Decision {
  if (hasJob || !isTracked(pod)) return nothingToDo;
  const finalizers = (pod.metadata.finalizers ?? []).filter((each) => each !== FINALIZER_JOB_TRACKING);
  const { resourceVersion } = pod.metadata;
  return {
    actions: [{ do: 'patch', target: refOf(pod), patch: { metadata: { finalizers } }, resourceVersion, because: 'its Job is gone' }],
  };
}
