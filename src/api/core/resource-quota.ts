/** ResourceQuota and LimitRange: how much the objects of a namespace may use, together and each. */
import type { KubeObject } from '../meta.ts';
import type { Resource } from '../resource.ts';

export type Quantities = Readonly<Record<string, string>>;

export type ScopeRequirement = { readonly scopeName: string; readonly operator: string; readonly values?: readonly string[] };

export type ResourceQuota = KubeObject & {
  readonly kind: 'ResourceQuota';
  readonly spec?: {
    readonly hard?: Quantities;
    readonly scopes?: readonly string[];
    readonly scopeSelector?: { readonly matchExpressions?: readonly ScopeRequirement[] };
  };
  readonly status?: { readonly hard?: Quantities; readonly used?: Quantities };
};

export const RESOURCE_QUOTAS: Resource<ResourceQuota> = {
  group: '',
  version: 'v1',
  plural: 'resourcequotas',
  kind: 'ResourceQuota',
  isNamespaced: true,
};

export type LimitRangeItem = {
  readonly type: string;
  readonly min?: Quantities;
  readonly max?: Quantities;
  readonly default?: Quantities;
  readonly defaultRequest?: Quantities;
  readonly maxLimitRequestRatio?: Quantities;
};

export type LimitRange = KubeObject & { readonly kind: 'LimitRange'; readonly spec?: { readonly limits?: readonly LimitRangeItem[] } };

export const LIMIT_RANGES: Resource<LimitRange> = {
  group: '',
  version: 'v1',
  plural: 'limitranges',
  kind: 'LimitRange',
  isNamespaced: true,
};
