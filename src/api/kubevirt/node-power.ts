/** Whether a node of the embedded cluster runs: said and asked for by annotations of its Node. Nodes of a real cluster have none. Pure. */
import type { Node } from '../core/node.ts';
import { ANNOTATION_NODE_POWER, ANNOTATION_NODE_POWER_WANTED } from './names.ts';

/** Stopped: its kubelet and virt-handler; its guests run on. Killed: its guests, too, as when the power goes. */
export const NODE_POWERS = ['running', 'stopped', 'killed'] as const;
export type NodePower = (typeof NODE_POWERS)[number];

/** What the embedded cluster says of the node; undefined for one that is not of an embedded cluster. */
export function powerOf(node: Node): NodePower | undefined {
  return powerFrom(node.metadata.annotations?.[ANNOTATION_NODE_POWER]);
}

/** What somebody has asked for; it runs unless somebody has. */
export function wantedPowerOf(node: Node): NodePower {
  return powerFrom(node.metadata.annotations?.[ANNOTATION_NODE_POWER_WANTED]) ?? 'running';
}

/** The patch that asks for it. */
export function wantPower(power: NodePower): object {
  return { metadata: { annotations: { [ANNOTATION_NODE_POWER_WANTED]: power === 'running' ? null : power } } };
}

function powerFrom(text: string | undefined): NodePower | undefined {
  return NODE_POWERS.find((each) => each === text);
}
