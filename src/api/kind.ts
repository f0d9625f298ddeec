/**
 * A kind of ours as one record: everything that Kubernetes must know of it. Its definition, the webhooks, the roles of components and of
 * people, and its part of docs/compatibility.md are made from it (`npm run generate`). The schema stands beside the record and not in it,
 * because no program loads one.
 */
import type { KubeObject } from './meta.ts';
import type { Resource } from './resource.ts';

export type PrinterColumn = {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description?: string;
  /** 1 = only with `-o wide`. */
  readonly priority?: number;
};

export type CrdSubresources = {
  readonly status?: object;
  readonly scale?: { readonly specReplicasPath: string; readonly statusReplicasPath: string; readonly labelSelectorPath?: string };
};

export type Component = 'virt-api' | 'virt-controller' | 'virt-handler';
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** What a component does with objects of a kind, and why when its main loop does not say it. */
export type Access = { readonly part?: 'status' | 'finalizers'; readonly verbs: readonly Verb[]; readonly because?: string };

/** virt-api is asked about creations and updates; on a cluster it is spared updates that it would let pass anyway. */
type Asked = { readonly exceptUpdatesBy?: readonly Component[] };

/** What the default roles let people do with objects of a kind. */
export type Roles = Readonly<Record<'view' | 'edit' | 'admin', readonly Verb[]>> & {
  /** Whoever has a name. */
  readonly everybody?: readonly Verb[];
};

type KindFacts = {
  /** A sentence for `kubectl explain`. */
  readonly description: string;
  /** All have the same schema. The first is stored, and is the one that our components speak. */
  readonly versions: readonly [string, ...string[]];
  readonly shortNames: readonly string[];
  readonly columns: readonly PrinterColumn[];
  /** What `kubectl get` lists it under beside its own name; `all` when not given. */
  readonly categories?: readonly string[];
  /** What KubeVirt's published types call the spec, when not by the name of the kind. */
  readonly specType?: string;
  readonly subresources?: CrdSubresources;
  /** Every kind is validated; `mutate` says that objects are completed on their way into the store, too. */
  readonly admission?: { readonly validate?: Asked; readonly mutate?: Asked };
  readonly roles: Roles;
  readonly access: Readonly<Partial<Record<Component, readonly Access[]>>>;
  /** How the definition itself is labelled, when not `kubevirt.io`: by that, its deletion is asked about. */
  readonly label?: string;
  /** A word for docs/compatibility.md. */
  readonly remark?: string;
  /** Why published fields of the spec are refused, by path; the longest path that begins the field's own is its reason. */
  readonly refused?: Readonly<Record<string, string>>;
  /** The fields of the spec, in the words of the published types, when KubeVirt publishes the kind no more. */
  readonly formerSpec?: Readonly<Record<string, string>>;
};

/** A record is a Resource, too: `client.list(VMS)`. */
export type KindRecord<Kind extends KubeObject = KubeObject> = Resource<Kind> & KindFacts;

/** The record of a kind; it lives in namespaces unless it says otherwise. */
export function kind<Kind extends KubeObject>(
  facts: Omit<Resource<Kind>, 'version' | 'isNamespaced' | 'objects'> & { readonly isNamespaced?: boolean } & KindFacts,
): KindRecord<Kind> {
  return { isNamespaced: true, ...facts, version: facts.versions[0] };
}

/** What KubeVirt's published types call the spec of the kind. */
export function specTypeOf({ kind, specType = `${kind}Spec` }: Pick<KindRecord, 'kind' | 'specType'>): string {
  return specType;
}
