/** How objects of an installation are told from others, and from each other. Pure. */
import { LABEL_MANAGED_BY, MANAGED_BY_OPERATOR } from '../../api/kubevirt/names.ts';
import { type KubeObject, keyOf } from '../../api/meta.ts';
import { sha1Hex } from '../../base/sha1.ts';

/** What an object was made from: it tells fields that are no longer wanted. */
export const ANNOTATION_HASH = 'operator.kubevirt.io/hash';

/** A name for an object of any kind: `rbac.authorization.k8s.io/v1 Role kubevirt/x`. */
export function identityOf({ apiVersion, kind, metadata }: KubeObject): string {
  return `${apiVersion} ${kind} ${keyOf(metadata)}`;
}

/** Marked as part of an installation. */
export function isManaged({ metadata }: KubeObject): boolean {
  return metadata.labels?.[LABEL_MANAGED_BY] === MANAGED_BY_OPERATOR;
}

/** As ours, with a hash of what it says. */
export function marked(object: KubeObject): KubeObject {
  const labels = { ...object.metadata.labels, [LABEL_MANAGED_BY]: MANAGED_BY_OPERATOR };
  const annotations = { ...object.metadata.annotations, [ANNOTATION_HASH]: sha1Hex(JSON.stringify({ ...object, labels })).slice(0, 12) };
  return { ...object, metadata: { ...object.metadata, labels, annotations } };
}
