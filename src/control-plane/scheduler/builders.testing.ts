/** Pods and nodes for the scheduler's tests; state only what matters. */
import type { Node } from '../../api/core/node.ts';
import type { Pod, PodSpec } from '../../api/core/pod.ts';
import type { ObjectMeta } from '../../api/meta.ts';
import { ClusterState } from './cluster-state.ts';

export type NodeParts = {
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: Node['spec'];
  readonly allocatable?: Readonly<Record<string, string>>;
  readonly isReady?: boolean;
};

export function node({ name = 'n1', labels, spec, allocatable, isReady = true }: NodeParts = {}): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec,
    status: {
      allocatable: { cpu: '4', memory: '8Gi', pods: '110', ...allocatable },
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
    },
  };
}

export function pod(spec: Partial<PodSpec> = {}, metadata: Partial<ObjectMeta> = {}, status?: Pod['status']): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default', uid: 'uid-p', resourceVersion: '1', ...metadata },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
    status,
  };
}

/** A Pod whose one container asks for this much. */
export function asking(requests: Readonly<Record<string, string>>, metadata: Partial<ObjectMeta> = {}): Pod {
  return pod({ containers: [{ name: 'c', image: 'i', resources: { requests } }] }, metadata);
}

export type NodeWithPods = { readonly node: Node; readonly pods: readonly Pod[] };

export function state(parts: NodeParts = {}, pods: readonly Pod[] = []): NodeWithPods {
  return { node: node(parts), pods };
}

/** A cluster of these nodes; Pods are told apart by where they stand in the lists. */
export function cluster(nodes: readonly NodeWithPods[]): ClusterState {
  const result = new ClusterState();
  for (const each of nodes) {
    const { name } = each.node.metadata;
    result.setNode(each.node);
    for (const [index, there] of each.pods.entries())
      result.place({ ...there, metadata: { ...there.metadata, uid: `${name}-${index}` } }, name);
  }
  return result;
}
