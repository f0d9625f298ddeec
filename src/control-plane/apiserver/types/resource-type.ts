/** What the API server knows about one kind in one version: where it lives, how it looks, which rules of its own it has. */

import type { KubeObject } from '../../../api/meta.ts';
import type { StatusCause } from '../../../base/errors.ts';
import type { JsonObject } from '../../../base/json.ts';
import type { ClientConfig } from '../admission/webhook.ts';
import type { Schema } from '../schema/schema.ts';

/** Any API object: the fields all kinds share are typed, the rest is looked into with care. */
export type AnyObject = KubeObject & { readonly [key: string]: unknown };

export type PrinterColumn = {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
};

/** Where a kind keeps what the scale subresource shows, as dotted paths. */
export type ScalePaths = { readonly specReplicas: string; readonly statusReplicas: string; readonly labelSelector?: string };

/** Rules of one kind. All are synchronous: they run between a read and its compare-and-swap. */
export type Strategy = {
  /** Completes a new object: what the schema's defaults cannot know. */
  readonly prepareCreate?: (object: AnyObject) => AnyObject;
  /** Completes a changed object, before it is compared with what is stored. */
  readonly prepareUpdate?: (object: AnyObject, old: AnyObject, subresource: string | undefined) => AnyObject;
  /** Every reason to refuse the object; `old` is there for an update. */
  readonly validate?: (object: AnyObject, old: AnyObject | undefined, subresource: string | undefined) => StatusCause[];
  /** Keeps what only one object may have for this write, until it is over; or why it cannot be had. Asked at the moment of the write. */
  readonly reserve?: (object: AnyObject, old: AnyObject | undefined) => Reservation;
  /** A new object may bring its status along although that is a subresource (nodes register themselves with it). */
  readonly keepsNewStatus?: true;
  /** A change of the annotations counts as a new generation (Deployments: rollouts are steered by them). */
  readonly annotationsAreDesired?: true;
  /** The grace period a deletion gets; undefined for kinds that have none. */
  readonly gracePeriodSeconds?: (object: AnyObject, requested: number | undefined) => number;
  /** What a deletion that has to wait changes besides its time stamp. */
  readonly prepareDeletion?: (object: AnyObject) => AnyObject;
  /** False while something besides metadata.finalizers keeps a deleted object (spec.finalizers of a namespace). */
  readonly mayVanish?: (object: AnyObject) => boolean;
};

export type Reservation = { readonly giveBack: () => void } | { readonly causes: readonly StatusCause[] };

/** A kind that is another kind's second face: its objects are stored as the other's, with these top-level fields under other names. */
export type SharedStorage = {
  readonly group: string;
  readonly apiVersion: string;
  readonly storedNames: Readonly<Record<string, string>>;
  /** For faces that differ in more than names. What cannot be stored is thrown. */
  readonly convert?: { toStored(object: JsonObject): JsonObject; fromStored(object: JsonObject): JsonObject };
};

export type ResourceType = {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly isNamespaced: boolean;
  readonly isBuiltIn: boolean;
  readonly verbs: readonly string[];
  readonly subresources: readonly string[];
  readonly schema: Schema | undefined;
  readonly printerColumns: readonly PrinterColumn[] | undefined;
  readonly scale: ScalePaths | undefined;
  /** The apiVersion objects are stored under. */
  readonly storedApiVersion: string;
  /** Who turns an object of one version into one of another; without one all versions have one shape. */
  readonly converter?: ClientConfig;
  readonly sharedStorage?: SharedStorage;
  /** Which syntax names have. */
  readonly nameSyntax: NameSyntax;
  readonly hasGeneration: boolean;
  /** A PUT may leave metadata.resourceVersion out. */
  readonly allowsUnconditionalUpdate: boolean;
  /** DELETE answers with the object instead of a Status. */
  readonly returnsDeleted: boolean;
  /** Fields besides metadata.name and metadata.namespace that a field selector may name. */
  readonly selectableFields: readonly string[];
  readonly deprecationWarning: string | undefined;
  readonly strategy: Strategy;
  /** Aborted when this kind is no longer served in this shape: watches end then. */
  readonly retired: AbortSignal;
};

export type NameSyntax = 'subdomain' | 'label' | 'service' | 'path-segment';

/** `deployments.apps`, or `pods` for the core group: how messages name a resource. */
export function qualifiedPlural({ plural, group }: Pick<ResourceType, 'plural' | 'group'>): string {
  return group === '' ? plural : `${plural}.${group}`;
}

/** `Deployment.apps`, or `Pod`: how validation messages name a kind. */
export function qualifiedKind({ kind, group }: Pick<ResourceType, 'kind' | 'group'>): string {
  return group === '' ? kind : `${kind}.${group}`;
}

type Stored = Pick<ResourceType, 'group' | 'plural' | 'sharedStorage'>;

/** The store prefix of all objects of a resource, or of one namespace. All versions share it. */
export function storePrefix({ group, plural, sharedStorage }: Stored, namespace?: string): string {
  const bucket = `${(sharedStorage?.group ?? group) || 'core'}/${plural}/`;
  return namespace === undefined ? bucket : `${bucket}${namespace}/`;
}

/** The store key of one object; cluster-wide ones have an empty namespace. */
export function storeKey(type: Stored, namespace: string | undefined, name: string): string {
  return `${storePrefix(type, namespace ?? '')}${name}`;
}
