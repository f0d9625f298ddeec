/** What every Kubernetes object has, and the questions asked of any of them. */
export type OwnerReference = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
};

/** Which fields of an object belong to whom; `fieldsV1` is a set of paths. */
export type ManagedFieldsEntry = {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly time?: string;
  readonly fieldsType: 'FieldsV1';
  readonly fieldsV1: object;
  readonly subresource?: string;
};

export type ObjectMeta = {
  readonly name: string;
  readonly namespace?: string;
  readonly generateName?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
};

export type KubeObject = { readonly apiVersion: string; readonly kind: string; readonly metadata: ObjectMeta };

export type Condition = {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
  readonly lastProbeTime?: string | null;
  readonly lastTransitionTime?: string | null;
};

/** Names one object; uid pins the incarnation, so that a stale decision cannot touch its successor. */
export type Ref = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
};

export function refOf({ apiVersion, kind, metadata: { namespace, name, uid } }: KubeObject): Ref {
  return { apiVersion, kind, namespace, name, uid };
}

/** `namespace/name`, or `name` for cluster-scoped objects: the key of caches and queues. */
export function keyOf({ namespace, name }: { readonly namespace?: string; readonly name: string }): string {
  return namespace ? `${namespace}/${name}` : name;
}

/** The reverse of keyOf. */
export function fromKey(key: string): { namespace?: string; name: string } {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** The owner that manages this object, if any. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller);
}

/** True when this owner manages the object: by its uid, and by what it is, for that is what admission judges a reference by. */
export function isControlledBy(object: KubeObject, owner: KubeObject): boolean {
  const { uid } = owner.metadata;
  const said = controllerOf(object);
  return uid !== undefined && said?.uid === uid && said.kind === owner.kind && groupOf(said.apiVersion) === groupOf(owner.apiVersion);
}

/** An owner may have been named in another version of its group. */
function groupOf(apiVersion: string): string {
  return apiVersion.slice(0, Math.max(0, apiVersion.lastIndexOf('/')));
}

/** The owner reference that makes `owner` the one manager of what carries it. */
export function controllerReferenceTo(owner: KubeObject): OwnerReference {
  const { name, uid = '' } = owner.metadata;
  return { apiVersion: owner.apiVersion, kind: owner.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

export function isDeleting(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

export function conditionOf(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function hasCondition(conditions: readonly Condition[] | undefined, type: string, status: Condition['status'] = 'True'): boolean {
  return conditionOf(conditions, type)?.status === status;
}
