/** Node: the fields that our components read or write. */

import type { Condition, KubeObject } from '../meta.ts';
import type { Resource } from '../resource.ts';

export type Taint = {
  readonly key: string;
  readonly value?: string;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
  readonly timeAdded?: string;
};
export type Node = KubeObject & {
  readonly kind: 'Node';
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly Taint[]; readonly podCIDR?: string };
  readonly status?: {
    readonly capacity?: Readonly<Record<string, string>>;
    readonly allocatable?: Readonly<Record<string, string>>;
    readonly conditions?: readonly Condition[];
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly nodeInfo?: Readonly<Record<string, unknown>>;
  };
};

export const NODES: Resource<Node> = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', isNamespaced: false };
