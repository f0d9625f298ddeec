/**
 * What should happen to one node, given for how long nothing was heard of its lease (see silence.ts: by our own ears and a steady clock).
 *
 *   when                                        then
 *   silent for 50 s, and Ready is not Unknown   its conditions become Unknown: NodeStatusUnknown
 *   Ready is True                               neither taint
 *   Ready is False                              taint not-ready, NoSchedule and NoExecute
 *   Ready is Unknown                            taint unreachable, NoSchedule and NoExecute
 *   no Ready yet                                its taints stay as they are
 *
 * Taints of others stay. The kubelet alone says that a node is ready again. Pure.
 */
import type { Node, Taint } from '../../api/core/node.ts';
import { NOT_READY, UNREACHABLE } from '../../api/core/taints.ts';
import { type Condition, conditionOf, refOf } from '../../api/meta.ts';
import { deepEqual } from '../../base/json.ts';
import { timestamp } from '../../base/timestamp.ts';
import type { Action, Decision } from '../../reconcile/decision.ts';

export type ObservedNode = { readonly node: Node; readonly silentMs: number; readonly now: number };

/** As the controller manager of Kubernetes has it. */
const GRACE_MS = 50_000;
/** What the kubelet says of a node, and nobody else. */
const OF_KUBELET = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];
const OURS = [NOT_READY.key, UNREACHABLE.key];

/** The rules above, for one node. */
export function decideNode(observed: ObservedNode): Decision {
  const { node, silentMs } = observed;
  const isSilent = silentMs >= GRACE_MS;
  const status = conditionOf(node.status?.conditions, 'Ready')?.status;
  if (isSilent && status !== 'Unknown') return { actions: [giveUp(observed)] };
  const actions = status === undefined ? [] : taint(observed, status);
  return { actions, ...(!isSilent && { lookAgainAfterMs: GRACE_MS - silentMs }) };
}

function giveUp({ node, silentMs, now }: ObservedNode): Action {
  const before = node.status?.conditions ?? [];
  const others = before.filter(({ type }) => !OF_KUBELET.includes(type));
  const unknown = OF_KUBELET.map((type): Condition => {
    const old = conditionOf(before, type);
    const why = old
      ? { reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' }
      : { reason: 'NodeStatusNeverUpdated', message: 'Kubelet never posted node status.' };
    const lastTransitionTime = old?.status === 'Unknown' ? old.lastTransitionTime : timestamp(now);
    return { ...old, type, status: 'Unknown', ...why, lastTransitionTime };
  });
  return {
    do: 'patch',
    target: refOf(node),
    subresource: 'status',
    patch: { status: { conditions: [...others, ...unknown] } },
    resourceVersion: node.metadata.resourceVersion,
    because: `nothing was heard of its kubelet for ${Math.floor(silentMs / 1000)}s`,
    event: { type: 'Normal', reason: 'NodeNotReady', message: `Node ${node.metadata.name} status is now: NodeNotReady` },
  };
}

function taint({ node, now }: ObservedNode, status: Condition['status']): Action[] {
  const before = node.spec?.taints ?? [];
  const key = status === 'True' ? undefined : status === 'False' ? NOT_READY.key : UNREACHABLE.key;
  const wanted: Taint[] =
    key === undefined
      ? []
      : [
          { key, effect: 'NoSchedule' },
          { key, effect: 'NoExecute', timeAdded: timestamp(now) },
        ];
  const kept = wanted.map((each) => before.find((old) => old.key === each.key && old.effect === each.effect) ?? each);
  const taints = [...before.filter((each) => !OURS.includes(each.key)), ...kept];
  if (deepEqual(sorted(taints), sorted(before))) return [];
  const because = key === undefined ? 'it is ready' : `Ready is ${status}`;
  return [{ do: 'patch', target: refOf(node), patch: { spec: { taints } }, resourceVersion: node.metadata.resourceVersion, because }];
}

function sorted(taints: readonly Taint[]): Taint[] {
  return taints.toSorted((a, b) => (`${a.key}:${a.effect}` < `${b.key}:${b.effect}` ? -1 : 1));
}
