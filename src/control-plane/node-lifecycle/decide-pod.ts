/**
 * What should happen to one Pod of a node that is tainted, lost or gone, given for how long we have seen that (see silence.ts). First match wins.
 *
 *   when                                                 then
 *   it mirrors our own process                           nothing
 *   its node is gone for 40 s                            remove it at once: nobody is left to end it
 *   it is going, its node not ready and out of service   remove it at once: somebody has said that nothing runs there any more
 *   it has ended or is going                             nothing
 *   its node is not ready since after it was             its condition Ready becomes False
 *   a NoExecute taint that it does not tolerate          delete it
 *   one that it tolerates for some seconds               delete it when they are over, since we first saw the taint; the shortest counts
 *
 * One that is deleted stays, terminating, until its kubelet says that it is gone: nobody runs a second one meanwhile. Pure.
 */
import type { Node, Taint } from '../../api/core/node.ts';
import { isPodFinal, type Pod } from '../../api/core/pod.ts';
import { covers, isReady, OUT_OF_SERVICE } from '../../api/core/taints.ts';
import { conditionOf, isDeleting, refOf } from '../../api/meta.ts';
import { timestamp } from '../../base/timestamp.ts';
import { type Action, type Decision, nothingToDo } from '../../reconcile/decision.ts';

export type ObservedPodOfNode = {
  readonly pod: Pod;
  /** Left out when there is none. */
  readonly node?: Node;
  /** For how long there has been none. */
  readonly goneForMs: number;
  /** Those of the node that evict. */
  readonly taints: readonly { readonly taint: Taint; readonly seenForMs: number }[];
  readonly now: number;
};

const MIRROR = 'kubernetes.io/config.mirror';
/** A kubelet that is alive has registered again long before. */
const GONE_MS = 40_000;

/** The rules above, for one Pod. */
export function decidePodOfNode(observed: ObservedPodOfNode): Decision {
  const { pod, node, goneForMs, taints } = observed;
  if (pod.metadata.annotations?.[MIRROR] !== undefined) return nothingToDo;
  if (!node) {
    if (goneForMs < GONE_MS) return { actions: [], lookAgainAfterMs: GONE_MS - goneForMs };
    return { actions: [remove(pod, `node ${pod.spec.nodeName} is gone`)] };
  }
  const isOutOfService = !isReady(node) && taints.some(({ taint }) => taint.key === OUT_OF_SERVICE);
  if (isOutOfService && isDeleting(pod)) return { actions: [remove(pod, `node ${node.metadata.name} is out of service`)] };
  if (isPodFinal(pod) || isDeleting(pod)) return nothingToDo;
  const unready = markUnready(observed, node);
  if (unready) return { actions: [unready], lookAgainAfterMs: 0 };
  return evict(observed);
}

/** Once for each time that the node is lost: a kubelet that is there after all says otherwise and is not contradicted. */
function markUnready({ pod, now }: ObservedPodOfNode, node: Node): Action | undefined {
  const ofNode = conditionOf(node.status?.conditions, 'Ready');
  const ofPod = conditionOf(pod.status?.conditions, 'Ready');
  if (ofPod?.status !== 'True' || !ofNode || ofNode.status === 'True') return undefined;
  if (Date.parse(ofPod.lastTransitionTime ?? '') >= Date.parse(ofNode.lastTransitionTime ?? '')) return undefined;
  const conditions = pod.status?.conditions?.map((each) =>
    each === ofPod ? { ...each, status: 'False', lastTransitionTime: timestamp(now) } : each,
  );
  return {
    do: 'patch',
    target: refOf(pod),
    subresource: 'status',
    patch: { status: { conditions } },
    resourceVersion: pod.metadata.resourceVersion,
    because: `node ${node.metadata.name} is not ready`,
    event: { type: 'Warning', reason: 'NodeNotReady', message: 'Node is not ready' },
  };
}

function evict({ pod, taints }: ObservedPodOfNode): Decision {
  const rests = taints
    .map(({ taint, seenForMs }) => ({ taint, restMs: toleratedForMs(pod, taint) - seenForMs }))
    .sort((a, b) => a.restMs - b.restMs);
  const [first] = rests;
  if (!first || first.restMs === Number.POSITIVE_INFINITY) return nothingToDo;
  if (first.restMs > 0) return { actions: [], lookAgainAfterMs: first.restMs };
  const { namespace, name } = pod.metadata;
  return {
    actions: [
      {
        do: 'delete',
        target: refOf(pod),
        because: `node ${pod.spec.nodeName} has the taint ${first.taint.key}, which it tolerates no longer`,
        event: { type: 'Normal', reason: 'TaintManagerEviction', message: `Marking for deletion Pod ${namespace}/${name}` },
      },
    ],
  };
}

function remove(pod: Pod, because: string): Action {
  return { do: 'delete', target: refOf(pod), gracePeriodSeconds: 0, because };
}

/** 0 when not at all, for ever when no toleration has a time. */
function toleratedForMs({ spec }: Pod, taint: Taint): number {
  const tolerating = (spec.tolerations ?? []).filter((toleration) => covers(toleration, taint));
  if (tolerating.length === 0) return 0;
  const seconds = tolerating.flatMap(({ tolerationSeconds }) => tolerationSeconds ?? []);
  return seconds.length === 0 ? Number.POSITIVE_INFINITY : Math.max(0, Math.min(...seconds)) * 1000;
}
