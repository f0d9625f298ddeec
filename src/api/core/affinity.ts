/** The rules in a Pod's `spec.affinity`. */
import type { LabelSelector } from '../../base/selectors.ts';

export type NodeSelectorRequirement = {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';
  readonly values?: readonly string[];
};
/** All of it must hold. */
export type NodeSelectorTerm = {
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
};
export type PodAffinityTerm = {
  readonly topologyKey: string;
  readonly labelSelector?: LabelSelector;
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: LabelSelector;
};
type PodAffinity = { readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[] };

export type Affinity = {
  readonly nodeAffinity?: {
    /** One of the terms must hold. */
    readonly requiredDuringSchedulingIgnoredDuringExecution?: { readonly nodeSelectorTerms?: readonly NodeSelectorTerm[] };
    readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
      readonly weight: number;
      readonly preference: NodeSelectorTerm;
    }[];
  };
  readonly podAffinity?: PodAffinity;
  readonly podAntiAffinity?: PodAffinity;
};
