/**
 * Objects of an installation as `spec.customizeComponents` of its KubeVirt object wants them: patches by kind and name, and flags of components.
 * Pure.
 */
import fastJsonPatch, { type Operation } from 'fast-json-patch';
import { FLAG_OWNERS } from '../../api/kubevirt/configuration/customize-causes.ts';
import type { KubeVirt } from '../../api/kubevirt/kinds/kubevirt.ts';
import type { KubeObject } from '../../api/meta.ts';
import { messageOf } from '../../base/errors.ts';
import { isObject, type JsonObject, mergePatch } from '../../base/json.ts';
import { strategicPatch } from './strategic-patch.ts';

type Customize = NonNullable<KubeVirt['spec']['customizeComponents']>;
type Patch = NonNullable<Customize['patches']>[number];
type Container = { readonly args?: readonly string[] };
type Workload = KubeObject & { readonly spec: { readonly template: { readonly spec: { readonly containers: readonly Container[] } } } };

/** What no patch may change: the operator would lose sight of the object. */
const IDENTITY = ['apiVersion', 'kind'] as const;
const IDENTITY_OF_METADATA = ['name', 'namespace'] as const;

/** The object as it is wanted; throws the sentence that says why a patch cannot be applied to it. */
export function customizeObject(object: KubeObject, { patches = [], flags }: Customize = {}): KubeObject {
  const flagged = withFlags(object, flags);
  return patches.reduce((result, patch, index) => (isMeant(patch, object) ? patched(result, patch, index) : result), flagged);
}

/** Patches that are about no object at all, as a sentence; undefined when there is none. */
export function unusedPatch(objects: readonly KubeObject[], { patches = [] }: Customize = {}): string | undefined {
  const index = patches.findIndex((patch) => !objects.some((object) => isMeant(patch, object)));
  const unused = patches[index];
  return unused && `${at(index)}: there is no ${unused.resourceType} ${unused.resourceName} among the objects of the installation`;
}

/** Kinds are written in any case, and in the plural of old documents too; * is every name. */
function isMeant({ resourceType, resourceName }: Patch, { kind, metadata }: KubeObject): boolean {
  const wanted = resourceType.toLowerCase();
  const isKind = wanted === kind.toLowerCase() || wanted === `${kind.toLowerCase()}s`;
  return isKind && (resourceName === '*' || resourceName === metadata.name);
}

function patched(object: KubeObject, patch: Patch, index: number): KubeObject {
  try {
    const result = apply(object as unknown as JsonObject, patch) as unknown as KubeObject; // what is checked next
    const isSame =
      isObject(result) &&
      isObject(result.metadata) &&
      IDENTITY.every((field) => result[field] === object[field]) &&
      IDENTITY_OF_METADATA.every((field) => result.metadata[field] === object.metadata[field]);
    if (!isSame) throw new Error('a patch cannot change apiVersion, kind, name and namespace');
    return result;
  } catch (error) {
    throw new Error(`${at(index)} cannot be applied to ${object.kind} ${object.metadata.name}: ${messageOf(error).split('\n')[0]}`);
  }
}

function apply(object: JsonObject, { patch, type }: Patch): unknown {
  const content: unknown = JSON.parse(patch);
  if (type === 'json') {
    if (!Array.isArray(content)) throw new Error('a patch of type json is a list of operations');
    return fastJsonPatch.applyPatch(structuredClone(object), content as Operation[], true).newDocument; // checked by the library, one by one
  }
  if (!isObject(content)) throw new Error(`a patch of type ${type} is an object`);
  return type === 'merge' ? mergePatch(object, content) : strategicPatch(object, content);
}

/** Behind those that the component always has, so that they win. */
function withFlags(object: KubeObject, flags: Customize['flags'] = {}): KubeObject {
  const owner = FLAG_OWNERS.find(({ component }) => component === object.metadata.name);
  const given = Object.entries((owner && flags[owner.field]) ?? {}).map(([name, value]) => `--${name}=${value}`);
  if (given.length === 0 || !/^(Deployment|DaemonSet)$/.test(object.kind)) return object;
  const { spec } = object as Workload; // rendered by us
  const [container, ...others] = spec.template.spec.containers;
  const containers = [{ ...container, args: [...(container?.args ?? []), ...given] }, ...others];
  return { ...object, spec: { ...spec, template: { ...spec.template, spec: { ...spec.template.spec, containers } } } } as KubeObject;
}

function at(index: number): string {
  return `spec.customizeComponents.patches[${index}]`;
}
