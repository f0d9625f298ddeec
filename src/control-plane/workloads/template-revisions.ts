/**
 * The history of a template as ControllerRevisions, for DaemonSets and StatefulSets: `kubectl rollout history` and `undo` read it. Pure.
 *
 *   when, first match                                 then
 *   an orphan fits the selector                       adopt it
 *   no revision has the content of the template       make one, with the next number
 *   one has it, but not the highest number            give it the next number: somebody went back
 *   more than revisionHistoryLimit are not in use     delete those with the lowest numbers
 */
import { CONTROLLER_REVISIONS, type ControllerRevision, LABEL_CONTROLLER_REVISION_HASH } from '../../api/core/controller-revision.ts';
import type { PodTemplate, WorkloadSpec } from '../../api/core/pod-template.ts';
import { controllerReferenceTo, isControlledBy, isDeleting, type KubeObject, refOf } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { deepEqual } from '../../base/json.ts';
import { adopt } from '../../reconcile/decide-owner.ts';
import type { Action } from '../../reconcile/decision.ts';
import { templateHash } from './template-hash.ts';

export type Templated = KubeObject & { readonly spec: WorkloadSpec; readonly status?: { readonly collisionCount?: number } };

export type TemplateRevisions = {
  /** The one of the template as it is now; undefined until it is made. */
  readonly current: ControllerRevision | undefined;
  /** All of the owner, lowest number first. */
  readonly all: readonly ControllerRevision[];
  /** What has to be done first; nothing else before. */
  readonly actions: readonly Action[];
};

/** What a revision keeps: as a patch that puts the template back whole. */
export function revisionData({ template }: WorkloadSpec): object {
  return { spec: { template: { ...template, $patch: 'replace' } } };
}

/** The template that a revision keeps. */
export function templateOf({ data }: ControllerRevision): PodTemplate | undefined {
  const { $patch: _, ...template } = (data as { spec?: { template?: PodTemplate & { $patch?: string } } })?.spec?.template ?? {};
  return 'spec' in template ? (template as PodTemplate) : undefined; // written by us, and it cannot be changed
}

/** The revisions of an owner, and what is to be done so that the current template has its own. */
export function templateRevisions(owner: Templated, known: readonly ControllerRevision[], mayAdopt: boolean): TemplateRevisions {
  const orphans = known.filter((revision) => !isControlledBy(revision, owner) && !isDeleting(revision));
  const all = known.filter((revision) => isControlledBy(revision, owner)).toSorted((a, b) => a.revision - b.revision);
  if (orphans.length > 0 && mayAdopt) return { current: undefined, all, actions: orphans.map((each) => adopt(owner, each)) };
  const data = revisionData(owner.spec);
  const current = all.findLast((each) => deepEqual(each.data, data) && !isDeleting(each));
  const highest = all.at(-1)?.revision ?? 0;
  if (!current) return { current, all, actions: [make(owner, data, highest + 1)] };
  if (current.revision === highest) return { current, all, actions: [] };
  const because = 'its template is the current one again';
  const patch = { revision: highest + 1 };
  return {
    current,
    all,
    actions: [{ do: 'patch', target: refOf(current), patch, resourceVersion: current.metadata.resourceVersion, because }],
  };
}

function make(owner: Templated, data: object, revision: number): Action {
  const hash = templateHash(data, owner.status?.collisionCount);
  const object: ControllerRevision = {
    apiVersion: apiVersionOf(CONTROLLER_REVISIONS),
    kind: 'ControllerRevision',
    metadata: {
      name: `${owner.metadata.name}-${hash}`,
      namespace: owner.metadata.namespace,
      labels: { ...owner.spec.template.metadata?.labels, [LABEL_CONTROLLER_REVISION_HASH]: hash },
      ...(owner.metadata.annotations && { annotations: withoutLastApplied(owner.metadata.annotations) }),
      ownerReferences: [controllerReferenceTo(owner)],
    },
    revision,
    data,
  };
  return { do: 'create', object, because: 'the template is new' };
}

function withoutLastApplied(annotations: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => name !== 'kubectl.kubernetes.io/last-applied-configuration'));
}

/** What Pods of this revision are labelled with. */
export function revisionHash(revision: ControllerRevision): string {
  return revision.metadata.labels?.[LABEL_CONTROLLER_REVISION_HASH] ?? revision.metadata.name;
}

/** Deletes old revisions that no Pod is of and nobody goes back to. */
export function forgetRevisions(owner: Templated, { all, current }: TemplateRevisions, inUse: ReadonlySet<string>): Action[] {
  const limit = owner.spec.revisionHistoryLimit ?? 10;
  const unused = all.filter((each) => each !== current && !inUse.has(revisionHash(each)) && !isDeleting(each));
  return unused
    .slice(0, Math.max(0, unused.length - limit))
    .map((each) => ({ do: 'delete', target: refOf(each), because: `${unused.length} old revisions, ${limit} are kept` }));
}
