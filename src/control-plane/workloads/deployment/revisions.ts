/** Which ReplicaSet is that of the current template, which number it has, and what a new one looks like. Pure. */
import {
  ANNOTATION_DESIRED_REPLICAS,
  ANNOTATION_MAX_REPLICAS,
  ANNOTATION_REVISION,
  ANNOTATION_REVISION_HISTORY,
  type Deployment,
  LABEL_POD_TEMPLATE_HASH,
} from '../../../api/core/deployment.ts';
import type { PodTemplate } from '../../../api/core/pod-template.ts';
import { REPLICA_SETS, type ReplicaSet } from '../../../api/core/replica-set.ts';
import { controllerReferenceTo, isControlledBy } from '../../../api/meta.ts';
import { apiVersionOf } from '../../../api/resource.ts';
import { deepEqual } from '../../../base/json.ts';
import { updateRoom } from '../share.ts';
import { templateHash } from '../template-hash.ts';

export type Revisions = {
  /** The set of the current template. */
  readonly current: ReplicaSet | undefined;
  /** Oldest first. */
  readonly old: readonly ReplicaSet[];
  readonly all: readonly ReplicaSet[];
  /** The number of the current template. */
  readonly revision: number;
};

/** What a ReplicaSet has for reasons of its own, and what kubectl keeps for itself. */
const NOT_COPIED = [
  'kubectl.kubernetes.io/last-applied-configuration',
  ANNOTATION_REVISION,
  ANNOTATION_REVISION_HISTORY,
  ANNOTATION_DESIRED_REPLICAS,
  ANNOTATION_MAX_REPLICAS,
];

/** The sets of a Deployment, told apart by their templates. */
export function revisionsOf(deployment: Deployment, replicaSets: readonly ReplicaSet[]): Revisions {
  const all = replicaSets.filter((set) => isControlledBy(set, deployment)).toSorted(byAge);
  const current = all.find((set) => isSameTemplate(set.spec.template, deployment.spec.template));
  const old = all.filter((set) => set !== current);
  const newestOld = Math.max(0, ...old.map(revisionOf));
  return { current, old, all, revision: Math.max(newestOld + 1, current ? revisionOf(current) : 0) };
}

/** The number of a set; 0 when it has none. */
export function revisionOf({ metadata }: ReplicaSet): number {
  return Number(metadata.annotations?.[ANNOTATION_REVISION] ?? 0) || 0;
}

/** Equal but for the label that tells the Pods of one template from those of another. */
export function isSameTemplate(a: PodTemplate, b: PodTemplate): boolean {
  return deepEqual(withoutHash(a), withoutHash(b));
}

function withoutHash({ metadata = {}, ...rest }: PodTemplate): object {
  const { [LABEL_POD_TEMPLATE_HASH]: _, ...labels } = metadata.labels ?? {};
  return { ...rest, metadata: { labels, annotations: metadata.annotations ?? {} } };
}

/** What the set of the current template is called. */
export function hashOf({ spec, status }: Deployment): string {
  return templateHash(spec.template, status?.collisionCount);
}

/** The set of the current template, as it is made. */
export function newReplicaSet(deployment: Deployment, { replicas, revision }: { replicas: number; revision: number }): ReplicaSet {
  const { template, selector, minReadySeconds } = deployment.spec;
  const hash = hashOf(deployment);
  const labels = { ...template.metadata?.labels, [LABEL_POD_TEMPLATE_HASH]: hash };
  return {
    apiVersion: apiVersionOf(REPLICA_SETS),
    kind: 'ReplicaSet',
    metadata: {
      name: `${deployment.metadata.name}-${hash}`,
      namespace: deployment.metadata.namespace,
      labels,
      annotations: { ...copiedAnnotations(deployment), ...sizeAnnotations(deployment), [ANNOTATION_REVISION]: `${revision}` },
      ownerReferences: [controllerReferenceTo(deployment)],
    },
    spec: {
      replicas,
      ...(minReadySeconds !== undefined && { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [LABEL_POD_TEMPLATE_HASH]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

/** What people have noted on the Deployment (kubernetes.io/change-cause) is part of its history. */
export function copiedAnnotations({ metadata }: Deployment): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([name]) => !NOT_COPIED.includes(name)));
}

/** The size of the Deployment that a set was scaled for. */
export function sizeAnnotations({ spec }: Deployment): Record<string, string> {
  const wanted = spec.replicas ?? 1;
  return { [ANNOTATION_DESIRED_REPLICAS]: `${wanted}`, [ANNOTATION_MAX_REPLICAS]: `${wanted + roomOf(spec).surge}` };
}

/** How many Pods more and fewer than wanted there may be while a template is rolled out. */
export function roomOf(spec: Deployment['spec']): { surge: number; unavailable: number } {
  if (spec.strategy?.type === 'Recreate') return { surge: 0, unavailable: 0 };
  return updateRoom(spec.strategy?.rollingUpdate ?? {}, spec.replicas ?? 1);
}

function byAge(a: ReplicaSet, b: ReplicaSet): number {
  const age = (set: ReplicaSet) => set.metadata.creationTimestamp ?? '';
  return age(a).localeCompare(age(b)) || a.metadata.name.localeCompare(b.metadata.name);
}
