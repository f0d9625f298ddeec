/** A ControllerRevision: what an object was at some time. Only the fields that our components use. */
import type { KubeObject } from '../meta.ts';
import type { Resource } from '../resource.ts';

export type ControllerRevision = KubeObject & { readonly kind: 'ControllerRevision'; readonly revision: number; readonly data?: unknown };

export const CONTROLLER_REVISIONS: Resource<ControllerRevision> = {
  group: 'apps',
  version: 'v1',
  plural: 'controllerrevisions',
  kind: 'ControllerRevision',
  isNamespaced: true,
};

/** Which revision of the template a Pod of a DaemonSet or StatefulSet was made from, and the revision itself. */
export const LABEL_CONTROLLER_REVISION_HASH = 'controller-revision-hash';
