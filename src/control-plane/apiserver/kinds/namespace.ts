/** Namespaces: a label with their name, a phase, and a finalizer in the spec that holds them until they are empty. */
import { isObject } from '../../../base/json.ts';
import type { AnyObject, Strategy } from '../types/resource-type.ts';

const NAME_LABEL = 'kubernetes.io/metadata.name';

export const namespaceStrategy: Strategy = {
  prepareCreate: (object) => ({ ...withNameLabel(object), spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } }),
  prepareUpdate: (object, old, subresource) => ({
    ...withNameLabel(object),
    spec: subresource === 'finalize' ? object['spec'] : old['spec'],
  }),
  prepareDeletion: (object) => ({ ...object, status: { ...(isObject(object['status']) && object['status']), phase: 'Terminating' } }),
  mayVanish: (object) =>
    !isObject(object['spec']) || !Array.isArray(object['spec']['finalizers']) || object['spec']['finalizers'].length === 0,
};

function withNameLabel(object: AnyObject): AnyObject {
  const { labels, name } = object.metadata;
  return { ...object, metadata: { ...object.metadata, labels: { ...labels, [NAME_LABEL]: name } } };
}
