/** A kind of ours as a CustomResourceDefinition that any Kubernetes accepts. */
import type { KubeObject } from '../meta.ts';
import type { Resource } from '../resource.ts';
import type { TSchema } from './dsl.ts';
import { type Published, withRefusedFields } from './published.ts';
import { type StructuralSchema, structural } from './structural.ts';

export type PrinterColumn = {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description?: string;
  /** 1 = only with `-o wide`. */
  readonly priority?: number;
};
type Subresources = {
  readonly status?: object;
  readonly scale?: { readonly specReplicasPath: string; readonly statusReplicasPath: string; readonly labelSelectorPath?: string };
};
type CrdVersion = {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema: { readonly openAPIV3Schema: StructuralSchema };
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly subresources?: Subresources;
};
export type CustomResourceDefinition = KubeObject & {
  readonly kind: 'CustomResourceDefinition';
  readonly spec: {
    readonly group: string;
    readonly scope: 'Namespaced' | 'Cluster';
    readonly names: {
      readonly plural: string;
      readonly singular: string;
      readonly kind: string;
      readonly listKind: string;
      readonly shortNames: readonly string[];
      readonly categories: readonly string[];
    };
    readonly conversion: { readonly strategy: 'None' };
    readonly versions: readonly CrdVersion[];
  };
};
export type KindDefinition = {
  readonly resource: Resource;
  readonly shortNames: readonly string[];
  readonly description: string;
  /** The first is the one that is stored. All have the same schema. */
  readonly versions: readonly string[];
  readonly spec: TSchema;
  readonly status?: TSchema;
  readonly columns: readonly PrinterColumn[];
  readonly subresources?: Subresources;
  /** What KubeVirt publishes of the spec. */
  readonly published?: Published;
  /** How the definition itself is labelled, when it differs from the group. */
  readonly label?: string;
};

/** The CRD of a kind. Status is never required: it does not exist before our components have looked. */
export function crdFor(definition: KindDefinition): CustomResourceDefinition {
  const { resource, shortNames, versions, label } = definition;
  const { group, kind, plural } = resource;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels: { [label ?? group]: '' } },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List`, shortNames, categories: ['all'] },
      conversion: { strategy: 'None' },
      versions: versions.map((name, index) => versionOf(definition, name, index === 0)),
    },
  };
}

function versionOf(definition: KindDefinition, name: string, storage: boolean): CrdVersion {
  const { description, status, columns, subresources } = definition;
  const openAPIV3Schema = {
    type: 'object',
    description,
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string', description: 'The version of the API that this object is written in.' },
      kind: { type: 'string', description: 'What this object is.' },
      metadata: { type: 'object' },
      spec: specOf(definition),
      ...(status && { status: structural(status) }),
    },
  };
  return {
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema },
    additionalPrinterColumns: columns,
    ...(subresources && { subresources }),
  };
}

/** The spec as it stands in the CRD: with the published fields that are refused, so that they can be refused. */
function specOf({ spec, published }: KindDefinition): StructuralSchema {
  return published ? withRefusedFields(structural(spec), published) : structural(spec);
}
