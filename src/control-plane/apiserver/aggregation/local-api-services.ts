/** The APIService objects of the group versions that are served here: made and removed with them, so that `kubectl get apiservices` shows everything. */
import type { JsonObject } from '../../../base/json.ts';
import type { ResourceRegistry } from '../types/resource-registry.ts';
import type { AnyObject } from '../types/resource-type.ts';

const AUTOMANAGED = 'kube-aggregator.kubernetes.io/automanaged';
const BUILT_IN_PRIORITY = { groupPriorityMinimum: 17_000, versionPriority: 15 };
const CUSTOM_PRIORITY = { groupPriorityMinimum: 1000, versionPriority: 100 };

export type Difference = { readonly missing: readonly JsonObject[]; readonly superfluous: readonly string[] };

/** What has to be created and what has to go. Objects that somebody else made are left alone. */
export function localApiServices(registry: ResourceRegistry, present: readonly AnyObject[]): Difference {
  const wanted = new Map(
    registry.groups().flatMap(({ group, versions }) =>
      versions.map(({ version, types }) => {
        const object = localApiService({ group, version, isBuiltIn: types.every(({ isBuiltIn }) => isBuiltIn) });
        return [`${version}.${group}`, object] as [string, JsonObject];
      }),
    ),
  );
  const names = new Set(present.map(({ metadata }) => metadata.name));
  return {
    missing: [...wanted].filter(([name]) => !names.has(name)).map(([, object]) => object),
    superfluous: present
      .filter(({ metadata }) => metadata.labels?.[AUTOMANAGED] !== undefined && !wanted.has(metadata.name))
      .map(({ metadata }) => metadata.name),
  };
}

function localApiService({ group, version, isBuiltIn }: { group: string; version: string; isBuiltIn: boolean }): JsonObject {
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: `${version}.${group}`, labels: { [AUTOMANAGED]: isBuiltIn ? 'onstart' : 'true' } },
    spec: { ...(group !== '' && { group }), version, ...(isBuiltIn ? BUILT_IN_PRIORITY : CUSTOM_PRIORITY) },
  };
}
