/**
 * Whether a node of this process has to start or to end. First match wins.
 *
 *   wanted    it is      then
 *   running   not        start it
 *   stopped   running    stop it
 *   killed    not        kill it: what ran there ends with it
 *
 * What it is then is said on its Node, when that says something else. Pure.
 */
import type { Node } from '../../../api/core/node.ts';
import { ANNOTATION_NODE_POWER } from '../../../api/kubevirt/names.ts';
import { type NodePower, powerOf, wantedPowerOf } from '../../../api/kubevirt/node-power.ts';
import { refOf } from '../../../api/meta.ts';
import type { Decision } from '../../../reconcile/decision.ts';

export type ObservedNodePower = { readonly node: Node; readonly power: NodePower };
export type NodePowerAction = { readonly do: 'start node' | 'stop node' | 'kill node'; readonly because: string };

/** The rules above, for one node. */
export function decideNodePower({ node, power }: ObservedNodePower): Decision<NodePowerAction> {
  const wanted = wantedPowerOf(node);
  const todo = (
    [
      ['start node', wanted === 'running' && power !== 'running'],
      ['stop node', wanted === 'stopped' && power === 'running'],
      ['kill node', wanted === 'killed' && power !== 'killed'],
    ] as const
  ).find(([, isTrue]) => isTrue);
  if (todo) return { actions: [{ do: todo[0], because: `it is to be ${wanted}` }], lookAgainAfterMs: 0 };
  if (powerOf(node) === power) return { actions: [] };
  const patch = { metadata: { annotations: { [ANNOTATION_NODE_POWER]: power } } };
  return { actions: [{ do: 'patch', target: refOf(node), patch, because: `it is ${power}` }] };
}
