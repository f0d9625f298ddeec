/** What an owner has and what it may take over, and the owners that may take an object over: by namespace and selector. */
import type { ControllerRevision } from '../../api/core/controller-revision.ts';
import type { Pod } from '../../api/core/pod.ts';
import { controllerOf, type KubeObject, keyOf } from '../../api/meta.ts';
import type { Resource } from '../../api/resource.ts';
import { type LabelSelector, matchesLabels, requirementsOf } from '../../base/selectors.ts';
import type { Cache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { BY_CONTROLLER, mayAdopt, ownerKeysOf } from '../../reconcile/owner.ts';
import { BY_NAMESPACE } from './caches.ts';

/** What is left of a long name in the names that are made of it, at least. */
const LONGEST_START = 50;

type Selecting = KubeObject & { readonly spec: { readonly selector?: LabelSelector } };

/** Could be adopted by the owner, as far as names and labels tell. */
export function isCandidate(owner: Selecting, object: KubeObject): boolean {
  if (object.metadata.namespace !== owner.metadata.namespace || controllerOf(object)) return false;
  const requirements = requirementsOf(owner.spec.selector ?? {});
  return requirements.length > 0 && matchesLabels(requirements, object.metadata.labels);
}

/** For a trigger: the key of the owner of an object, or of everybody who may become it. */
export function ownersOf<T extends Selecting>(owners: Cache<T>): (object: KubeObject) => string[] {
  const ownerOf = ownerKeysOf(owners.resource.kind);
  return (object) =>
    controllerOf(object)
      ? ownerOf(object)
      : owners
          .byIndex(BY_NAMESPACE, object.metadata.namespace ?? '')
          .filter((owner) => isCandidate(owner, object))
          .map(({ metadata }) => keyOf(metadata));
}

type FamilyOptions<T extends Selecting> = {
  readonly client: Client;
  readonly resource: Resource<T>;
  readonly owner: T;
  readonly pods: Cache<Pod>;
  readonly revisions?: Cache<ControllerRevision>;
};
export type Family = {
  /** Pods that the owner controls, and those of its namespace that nobody controls and that fit its selector. */
  readonly pods: readonly Pod[];
  /** As with Pods. */
  readonly revisions: readonly ControllerRevision[];
  /** A fresh look has shown that the owner is still the one we think it is. */
  readonly mayAdopt: boolean;
  /** Names of Pods that those of the owner could collide with. */
  readonly taken: ReadonlySet<string>;
};

/** Everything around an owner that its decisions are made of. */
export async function familyOf<T extends Selecting>({ client, resource, owner, pods, revisions }: FamilyOptions<T>): Promise<Family> {
  const { namespace = '', uid = '', name } = owner.metadata;
  const near = pods.byIndex(BY_NAMESPACE, namespace);
  const lostPods = near.filter((pod) => isCandidate(owner, pod));
  const lostRevisions = revisions?.byIndex(BY_NAMESPACE, namespace).filter((each) => isCandidate(owner, each)) ?? [];
  const candidate = lostPods[0] ?? lostRevisions[0];
  const prefix = name.slice(0, LONGEST_START);
  return {
    pods: [...pods.byIndex(BY_CONTROLLER, uid), ...lostPods],
    revisions: [...(revisions?.byIndex(BY_CONTROLLER, uid) ?? []), ...lostRevisions],
    mayAdopt: candidate !== undefined && (await mayAdopt({ client, resource, owner, object: candidate })),
    taken: new Set(near.map(({ metadata }) => metadata.name).filter((each) => each.startsWith(prefix))),
  };
}
