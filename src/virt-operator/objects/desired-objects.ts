/** Every object of an installation as it is to be, in the order in which it is put in place. Pure. */
import { orderOf } from '../../api/kubevirt/installed-kinds-table.ts';
import type { KubeVirt } from '../../api/kubevirt/kinds/kubevirt.ts';
import type { KubeObject } from '../../api/meta.ts';
import { customizeObject } from '../customize/customize-object.ts';
import type { RenderOptions } from '../render/options.ts';
import { renderComponents, withCaBundle } from '../render/render.ts';
import { ANNOTATION_HASH, marked } from './marks.ts';

const AGGREGATION = 'rbac.authorization.k8s.io/aggregate-to-';

export type DesiredState = {
  /** The objects of deploy/. */
  readonly manifests: readonly KubeObject[];
  readonly options: RenderOptions;
  /** `spec.customizeComponents`. */
  readonly customize?: KubeVirt['spec']['customizeComponents'];
  /** Certificates and the Secrets that hold them. */
  readonly certificates: readonly KubeObject[];
  /** PEM, one after the other. */
  readonly authorities: string;
};

/** All of them, labelled as ours. Throws the sentence that says why they cannot be customized as it is asked for. */
export function desiredObjects({ manifests, options, customize, certificates, authorities }: DesiredState): KubeObject[] {
  const ours = manifests.filter(isOurs).map((object) => (options.hasNoAggregation ? withoutAggregation(object) : object));
  const objects = [...ours, ...certificates, ...renderComponents(options)];
  return objects
    .map((object) => markedAgain(object, customizeObject(withCaBundle(object, authorities), customize)))
    .map((object, index) => ({ object, index }))
    .sort((a, b) => orderOf(a.object) - orderOf(b.object) || a.index - b.index)
    .map(({ object }) => object);
}

/** Without the labels by which Kubernetes adds a role to its own. */
function withoutAggregation(object: KubeObject): KubeObject {
  const { labels = {} } = object.metadata;
  const kept = Object.entries(labels).filter(([name]) => !name.startsWith(AGGREGATION));
  if (object.kind !== 'ClusterRole' || kept.length === Object.keys(labels).length) return object;
  const { annotations: { [ANNOTATION_HASH]: _, ...annotations } = {}, ...metadata } = object.metadata;
  return { ...object, metadata: { ...metadata, annotations, labels: Object.fromEntries(kept) } };
}

/** The namespace and the kind KubeVirt come with the operator, and go with it. */
export function isOurs({ kind, metadata }: KubeObject): boolean {
  return kind !== 'Namespace' && metadata.name !== 'kubevirts.kubevirt.io';
}

/** What was marked before and did not change is left alone: definitions are large. */
function markedAgain(object: KubeObject, completed: KubeObject): KubeObject {
  return object === completed && object.metadata.annotations?.[ANNOTATION_HASH] ? object : marked(completed);
}
