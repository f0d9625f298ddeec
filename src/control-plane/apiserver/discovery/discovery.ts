/** What is served, for clients to find out: the classic documents and the aggregated ones, local and aggregated APIs together. */
import { apiVersionOf } from '../../../api/resource.ts';
import type { JsonObject } from '../../../base/json.ts';
import type { AggregatedGroupVersion } from '../aggregation/aggregated-apis.ts';
import { acceptEntries } from '../request/negotiate.ts';
import type { ResourceRegistry } from '../types/resource-registry.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { subresourceKind, subresourceVerbs } from '../types/subresource-kinds-table.ts';
import { compareVersions } from '../types/version-order.ts';

export type DiscoverySource = { readonly registry: ResourceRegistry; readonly aggregated: readonly AggregatedGroupVersion[] };

type ApiResource = {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly group?: string;
  readonly version?: string;
};
type Version = { readonly version: string; readonly resources: readonly ApiResource[]; readonly isStale: boolean };
type Group = { readonly group: string; readonly versions: readonly Version[] };

/** The aggregated form the client accepts, undefined when it wants the classic documents. */
export function aggregatedVersion(accept: string | null): 'v2' | 'v2beta1' | undefined {
  for (const { type, parameters } of acceptEntries(accept)) {
    if (type !== 'application/json') continue;
    if (parameters.get('as') === undefined) return undefined;
    const version = parameters.get('v');
    const isWanted = parameters.get('as') === 'APIGroupDiscoveryList' && parameters.get('g') === 'apidiscovery.k8s.io';
    if (isWanted && (version === 'v2' || version === 'v2beta1')) return version;
  }
  return undefined;
}

/** `/api`, classic. */
export function apiVersions(): JsonObject {
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
}

/** `/apis`, classic. */
export function apiGroupList(source: DiscoverySource): JsonObject {
  const groups = groupsOf(source).filter(({ group }) => group !== '');
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupEntry) };
}

/** `/apis/GROUP`; undefined when nothing of it is served. */
export function apiGroup(source: DiscoverySource, name: string): JsonObject | undefined {
  const found = groupsOf(source).find(({ group }) => group === name && group !== '');
  return found && { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(found) };
}

/** `/api/v1` and `/apis/GROUP/VERSION`; undefined when it is not served. */
export function apiResourceList(source: DiscoverySource, group: string, version: string): JsonObject | undefined {
  const found = groupsOf(source)
    .find((each) => each.group === group)
    ?.versions.find((each) => each.version === version);
  return found && { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: apiVersionOf({ group, version }), resources: found.resources };
}

/** `/api` and `/apis` in one document each; `isCore` chooses which. */
export function aggregatedDiscovery(source: DiscoverySource, options: { isCore: boolean; version: string }): JsonObject {
  const groups = groupsOf(source).filter(({ group }) => (group === '') === options.isCore);
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${options.version}`,
    metadata: {},
    items: groups.map(({ group, versions }) => ({
      metadata: { name: group, creationTimestamp: null },
      versions: versions.map(({ version, resources, isStale }) => ({
        version,
        freshness: isStale ? 'Stale' : 'Current',
        resources: aggregatedResources({ group, version }, resources),
      })),
    })),
  };
}

function groupsOf({ registry, aggregated }: DiscoverySource): Group[] {
  const groups = registry.groups().map(({ group, versions }): { group: string; versions: Version[] } => ({
    group,
    versions: versions.map(({ version, types }) => ({ version, resources: types.flatMap(resourcesOf), isStale: false })),
  }));
  for (const { group, version, resources, isStale } of aggregated) {
    const known = groups.find((each) => each.group === group);
    const entry: Version = { version, resources: resources as readonly ApiResource[], isStale };
    if (known) known.versions.push(entry);
    else groups.push({ group, versions: [entry] });
  }
  for (const { versions } of groups) versions.sort((a, b) => compareVersions(a.version, b.version));
  return groups;
}

function groupEntry({ group, versions }: Group): JsonObject {
  const all = versions.map(({ version }) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: all, preferredVersion: all[0] };
}

function resourcesOf(type: ResourceType): ApiResource[] {
  const main: ApiResource = {
    name: type.plural,
    singularName: type.singular,
    namespaced: type.isNamespaced,
    kind: type.kind,
    verbs: type.verbs,
    ...(type.shortNames.length > 0 && { shortNames: type.shortNames }),
    ...(type.categories.length > 0 && { categories: type.categories }),
  };
  const subresources = type.subresources.map((name): ApiResource => {
    const other = subresourceKind(name);
    return {
      name: `${type.plural}/${name}`,
      singularName: '',
      namespaced: type.isNamespaced,
      kind: other?.kind ?? type.kind,
      verbs: subresourceVerbs(name),
      ...(other && { group: other.group, version: other.version }),
    };
  });
  return [main, ...subresources];
}

function aggregatedResources(groupVersion: { group: string; version: string }, resources: readonly ApiResource[]): JsonObject[] {
  const responseKind = ({ group, version, kind }: ApiResource) => ({
    group: group ?? groupVersion.group,
    version: version ?? groupVersion.version,
    kind,
  });
  // An aggregated API may serve subresources of a resource that lives in another group.
  const names = [...new Set(resources.map(({ name }) => name.split('/')[0] ?? ''))];
  return names.map((name) => {
    const main = resources.find((resource) => resource.name === name);
    const subs = resources.filter((resource) => resource.name.startsWith(`${name}/`));
    return {
      resource: name,
      ...(main ? { responseKind: responseKind(main) } : { responseKind: { group: '', version: '', kind: '' } }),
      scope: (main ?? subs[0])?.namespaced ? 'Namespaced' : 'Cluster',
      singularResource: main?.singularName ?? '',
      verbs: main?.verbs ?? [],
      ...(main?.shortNames && { shortNames: main.shortNames }),
      ...(main?.categories && { categories: main.categories }),
      ...(subs.length > 0 && {
        subresources: subs.map((sub) => ({
          subresource: sub.name.slice(name.length + 1),
          responseKind: responseKind(sub),
          verbs: sub.verbs,
        })),
      }),
    };
  });
}
