/** The Pod of a DaemonSet for one node: where it has to go, and what it puts up with there. Pure. */
import type { Affinity, NodeSelectorTerm } from '../../../api/core/affinity.ts';
import { LABEL_CONTROLLER_REVISION_HASH } from '../../../api/core/controller-revision.ts';
import type { DaemonSet } from '../../../api/core/daemon-set.ts';
import type { Node } from '../../../api/core/node.ts';
import { isNodeWanted } from '../../../api/core/node-affinity.ts';
import type { Pod, Toleration } from '../../../api/core/pod.ts';
import { tolerates } from '../../../api/core/taints.ts';
import { podFrom } from '../pod-state.ts';

const TOLERATED: readonly Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];
const TOLERATED_ON_HOST_NETWORK: Toleration = { key: 'node.kubernetes.io/network-unavailable', operator: 'Exists', effect: 'NoSchedule' };

/** The Pod as it would be on any node: what its nodes are found by. */
export function daemonPod(set: DaemonSet, { name, hash }: { name: string; hash: string }): Pod {
  const labels = { [LABEL_CONTROLLER_REVISION_HASH]: hash, 'pod-template-generation': `${set.metadata.generation ?? 1}` };
  const pod = podFrom({ owner: set, template: set.spec.template, name, labels });
  const isOnHost = (pod.spec as { hostNetwork?: boolean }).hostNetwork === true;
  const added = [...TOLERATED, ...(isOnHost ? [TOLERATED_ON_HOST_NETWORK] : [])];
  return { ...pod, spec: { ...pod.spec, tolerations: [...(pod.spec.tolerations ?? []), ...added] } };
}

/** The same Pod for this node and no other; who binds it is the scheduler. */
export function forNode(pod: Pod, node: string): Pod {
  const affinity = (pod.spec.affinity ?? {}) as Affinity; // checked by the API server
  const matchFields: NodeSelectorTerm['matchFields'] = [{ key: 'metadata.name', operator: 'In', values: [node] }];
  const terms = affinity.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const nodeSelectorTerms = terms === undefined ? [{ matchFields }] : terms.map((term) => ({ ...term, matchFields }));
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
  return { ...pod, spec: { ...pod.spec, affinity: { ...affinity, nodeAffinity: { ...affinity.nodeAffinity, ...required } } } };
}

/** The node of a Pod: the one that it is on, or the one that it was made for. */
export function nodeOf({ spec }: Pod): string | undefined {
  if (spec.nodeName) return spec.nodeName;
  const terms = (spec.affinity as Affinity | undefined)?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return terms?.[0]?.matchFields?.find(({ key }) => key === 'metadata.name')?.values?.[0];
}

/** Whether a node takes the Pod: to run it, or only to keep one that runs. */
export function fitsNode(pod: Pod, node: Node): { runs: boolean; stays: boolean } {
  if (!isNodeWanted(pod, node)) return { runs: false, stays: false };
  const repelling = (node.spec?.taints ?? []).filter((taint) => taint.effect !== 'PreferNoSchedule' && !tolerates(pod, taint));
  return { runs: repelling.length === 0, stays: repelling.every(({ effect }) => effect !== 'NoExecute') };
}
