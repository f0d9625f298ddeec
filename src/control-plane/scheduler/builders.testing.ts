/** Pods and nodes for the scheduler's tests; state only what matters. */
import type { Node } from '../../api/core/node.ts';
import type { Pod, PodSpec } from '../../api/core/pod.ts';
import type { ObjectMeta } from '../../api/meta.ts';
import type { NodeState } from './decide.ts';
import { requestsOf, totalOf } from './requests.ts';

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

export function state(parts: NodeParts = {}, pods: readonly Pod[] = []): NodeState {
  return { node: node(parts), pods, used: totalOf(pods.map(requestsOf)) };
}
