/** Every object of an installation as it is to be, in the order in which it is put in place. Pure. */
import { orderOf } from '../../api/kubevirt/installed-kinds-table.ts';
import { type KubeObject, keyOf } from '../../api/meta.ts';
import { sha1Hex } from '../../base/sha1.ts';
import type { RenderOptions } from '../render/options.ts';
import { renderComponents, withCaBundle } from '../render/render.ts';

export const LABEL_MANAGED_BY = 'app.kubernetes.io/managed-by';
export const MANAGED_BY = 'virt-operator';
/** What an object was made from: it tells fields that are no longer wanted. */
const ANNOTATION_HASH = 'operator.kubevirt.io/hash';

export type DesiredState = {
  /** The objects of deploy/. */
  readonly manifests: readonly KubeObject[];
  readonly options: RenderOptions;
  /** Certificates and the Secrets that hold them. */
  readonly certificates: readonly KubeObject[];
  /** PEM, one after the other. */
  readonly authorities: string;
};

/** All of them, labelled as ours. */
export function desiredObjects({ manifests, options, certificates, authorities }: DesiredState): KubeObject[] {
  const objects = [...manifests.filter(isOurs), ...certificates, ...renderComponents(options)];
  return objects
    .map((object) => markedAgain(object, withCaBundle(object, authorities)))
    .map((object, index) => ({ object, index }))
    .sort((a, b) => orderOf(a.object) - orderOf(b.object) || a.index - b.index)
    .map(({ object }) => object);
}

/** A name for an object of any kind: `rbac.authorization.k8s.io/v1 Role kubevirt/x`. */
export function identityOf({ apiVersion, kind, metadata }: KubeObject): string {
  return `${apiVersion} ${kind} ${keyOf(metadata)}`;
}

/** The namespace and the kind KubeVirt come with the operator, and go with it. */
export function isOurs({ kind, metadata }: KubeObject): boolean {
  return kind !== 'Namespace' && metadata.name !== 'kubevirts.kubevirt.io';
}

/** What was marked before and did not change is left alone: definitions are large. */
function markedAgain(object: KubeObject, completed: KubeObject): KubeObject {
  return object === completed && object.metadata.annotations?.[ANNOTATION_HASH] ? object : marked(completed);
}

/** As ours, with a hash of what it says. */
export function marked(object: KubeObject): KubeObject {
  const labels = { ...object.metadata.labels, [LABEL_MANAGED_BY]: MANAGED_BY };
  const annotations = { ...object.metadata.annotations, [ANNOTATION_HASH]: sha1Hex(JSON.stringify({ ...object, labels })).slice(0, 12) };
  return { ...object, metadata: { ...object.metadata, labels, annotations } };
}
