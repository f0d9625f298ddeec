/**
 * Every resource that is served now: the built-in ones and those of stored CustomResourceDefinitions.
 * It follows the store synchronously, so a definition is in force before its writer gets the answer.
 */
import { apiVersionOf } from '../../../api/resource.ts';
import { deepEqual } from '../../../base/json.ts';
import type { StoreEvent } from '../../store/entry.ts';
import type { Store } from '../../store/store.ts';
import { type Crd, customResourceTypes, isCrd, isEstablished } from './custom-resource-types.ts';
import { type ResourceType, storeKey, storePrefix } from './resource-type.ts';
import { compareVersions } from './version-order.ts';

const CRD = { group: 'apiextensions.k8s.io', plural: 'customresourcedefinitions' };
export const CRD_PREFIX = 'apiextensions.k8s.io/customresourcedefinitions/';

export type GroupVersions = { readonly group: string; readonly versions: readonly { version: string; types: readonly ResourceType[] }[] };
type Custom = { readonly crd: Crd; readonly types: readonly ResourceType[]; readonly retire: AbortController };

export class ResourceRegistry {
  readonly #builtIn: readonly ResourceType[];
  readonly #custom = new Map<string, Custom>();
  #types = new Map<string, ResourceType>();
  #changes = 0;

  constructor(store: Store, builtIn: readonly ResourceType[]) {
    this.#builtIn = builtIn;
    for (const { key, value } of store.list(CRD_PREFIX)) this.#take(key, value);
    this.#index();
    store.watch(CRD_PREFIX, store.revision, (event) => this.#follow(event));
  }

  /** Grows whenever a resource appears, goes or changes: what is derived from the registry is valid for one value. */
  get changes(): number {
    return this.#changes;
  }

  find(group: string, version: string, plural: string): ResourceType | undefined {
    return this.#types.get(`${group}/${version}/${plural}`);
  }

  types(): ResourceType[] {
    return [...this.#types.values()];
  }

  /** One type per resource: enough to reach every stored object. The stored version if it is served, so that nothing needs conversion. */
  resources(): ResourceType[] {
    const seen = new Map<string, ResourceType>();
    for (const type of this.#types.values()) {
      const bucket = storePrefix(type);
      if (!seen.has(bucket) || apiVersionOf(type) === type.storedApiVersion) seen.set(bucket, type);
    }
    return [...seen.values()];
  }

  /** The definition a custom type comes from. */
  definitionOf(type: ResourceType): Crd | undefined {
    return this.#custom.get(storeKey(CRD, undefined, `${type.plural}.${type.group}`))?.crd;
  }

  /** Groups with their versions, best version first; built-in groups first, then custom ones by name. */
  groups(): GroupVersions[] {
    const byGroup = new Map<string, Map<string, ResourceType[]>>();
    for (const type of this.#types.values()) {
      const versions = byGroup.get(type.group) ?? new Map<string, ResourceType[]>();
      byGroup.set(type.group, versions);
      versions.set(type.version, [...(versions.get(type.version) ?? []), type]);
    }
    return [...byGroup].map(([group, versions]) => ({
      group,
      versions: [...versions].sort(([a], [b]) => compareVersions(a, b)).map(([version, types]) => ({ version, types })),
    }));
  }

  #follow({ key, entry }: StoreEvent): void {
    const known = this.#custom.get(key);
    if (entry && known && isSameShape(known.crd, entry.value as Crd)) {
      this.#custom.set(key, { ...known, crd: entry.value as Crd }); // only its status or metadata moved: watches go on
      return;
    }
    known?.retire.abort();
    this.#custom.delete(key);
    if (entry) this.#take(key, entry.value);
    this.#index();
  }

  #take(key: string, value: unknown): void {
    if (!isCrd(value)) return;
    const retire = new AbortController();
    const types = isEstablished(value) ? customResourceTypes(value, retire.signal) : [];
    this.#custom.set(key, { crd: value, types, retire });
  }

  #index(): void {
    const custom = [...this.#custom.values()].flatMap(({ types }) => types);
    custom.sort((a, b) => (a.group < b.group ? -1 : a.group > b.group ? 1 : 0));
    this.#types = new Map([...this.#builtIn, ...custom].map((type) => [`${type.group}/${type.version}/${type.plural}`, type]));
    this.#changes += 1;
  }
}

function isSameShape(a: Crd, b: Crd): boolean {
  return deepEqual(a.spec, b.spec) && isEstablished(a) === isEstablished(b);
}
