/** A kind of ours as a CustomResourceDefinition that any Kubernetes accepts. */

import { isObject } from '../../base/json.ts';
import type { CrdSubresources, KindRecord, PrinterColumn } from '../kind.ts';
import type { KubeObject } from '../meta.ts';
import type { TSchema } from './dsl.ts';
import { type Published, withRefusedFields } from './published.ts';
import { type StructuralSchema, structural } from './structural.ts';

type CrdVersion = {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema: { readonly openAPIV3Schema: StructuralSchema };
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly subresources?: CrdSubresources;
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
/** What the file beside the record exports, as `specSchema` and `statusSchema`. */
export type KindSchemas = { readonly spec: TSchema; readonly status?: TSchema };
/** What the definition has beside the record; `published` is what KubeVirt publishes of the spec. */
type Schemas = KindSchemas & { readonly published: Published };

/** The CRD of a kind. Status is never required: it does not exist before our components have looked. */
export function crdFor(record: KindRecord, schemas: Schemas): CustomResourceDefinition {
  const { group, kind, plural, shortNames, versions, isNamespaced, label = 'kubevirt.io', categories = ['all'] } = record;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels: { [label]: '' } },
    spec: {
      group,
      scope: isNamespaced ? 'Namespaced' : 'Cluster',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List`, shortNames, categories },
      conversion: { strategy: 'None' },
      versions: versions.map((name, index) => versionOf(record, schemas, { name, storage: index === 0 })),
    },
  };
}

function versionOf(record: KindRecord, schemas: Schemas, version: Pick<CrdVersion, 'name' | 'storage'>): CrdVersion {
  const { description, columns, subresources } = record;
  const openAPIV3Schema = {
    type: 'object',
    description,
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string', description: 'The version of the API that this object is written in.' },
      kind: { type: 'string', description: 'What this object is.' },
      metadata: { type: 'object' },
      spec: withoutEmpty(withRefusedFields(structural(schemas.spec), schemas.published)),
      ...(schemas.status && { status: withoutEmpty(structural(schemas.status)) }),
    },
  };
  return {
    name: version.name,
    served: true,
    storage: version.storage,
    schema: { openAPIV3Schema },
    additionalPrinterColumns: columns,
    ...(subresources && { subresources }),
  };
}

/** An API server does not store an empty list of properties, and a manifest that has one is never as it was applied. */
function withoutEmpty(schema: StructuralSchema): StructuralSchema {
  const isEmpty = (key: string, value: unknown) => key === 'properties' && isObject(value) && Object.keys(value).length === 0;
  return JSON.parse(JSON.stringify(schema, (key, value: unknown) => (isEmpty(key, value) ? undefined : value))) as StructuralSchema;
}
