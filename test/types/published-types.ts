/**
 * A check for the compiler alone: what our types let through is what KubeVirt's published types let through, so that code written against
 * those (a web console, for one) can take our objects. Where ours say more or less there is a deviation below, with its reason.
 * generated/published-kinds.ts asks it for every kind that is published.
 */
import type { K8sIoApiCoreV1Affinity, K8sIoApiCoreV1Toleration } from '@kubevirt-ui-ext/kubevirt-api/kubevirt';
import type { KINDS, KindName } from '../../src/api/kubevirt/kinds-table.ts';

/** The objects of a kind, by its name. */
export type Ours<Name extends KindName> = NonNullable<Extract<(typeof KINDS)[number], { readonly kind: Name }>['objects']>;

/**
 * Ours as the published types would say it:
 *   readonly                dropped: the published types are not readonly, ours are everywhere
 *   quantities              text alone: the published types do not know that 1 may be written for "1"
 *   affinity, tolerations   as published: Kubernetes defines them, and ours are laxer because the scheduler reads what anybody wrote
 */
export type Published<T> = [Quantity] extends [NonNullable<T>]
  ? string
  : T extends readonly (infer Item)[]
    ? Published<Item>[]
    : T extends object
      ? { -readonly [Key in keyof T]: Key extends keyof Kubernetes ? Kubernetes[Key] : Published<T[Key]> }
      : T;
type Quantity = string | number;
type Kubernetes = { affinity: K8sIoApiCoreV1Affinity; tolerations: K8sIoApiCoreV1Toleration[] };

/** Does not compile unless the first is assignable to the second. */
export type Fits<Ours extends Theirs, Theirs> = Ours;
