/** Our kinds beside the published ones: what the table of refused fields, the CRDs and docs/compatibility.md have in common. */
import { type KindRecord, specTypeOf } from '../../src/api/kind.ts';
import { PUBLISHED_TYPES } from '../../src/api/kubevirt/generated/published-types.ts';
import { KINDS } from '../../src/api/kubevirt/kinds-table.ts';
import { type KindSchemas, SCHEMAS } from '../../src/api/kubevirt/schemas-table.ts';
import { NESTED_SPECS } from '../../src/api/kubevirt/why-refused.ts';
import { type ComparedField, compareFields } from '../../src/api/schema/published.ts';
import { structural } from '../../src/api/schema/structural.ts';

/** A kind with all that is known of it. */
export type FullKind = { readonly record: KindRecord; readonly schemas: KindSchemas };

export const FULL_KINDS: readonly FullKind[] = KINDS.map((record) => ({ record, schemas: SCHEMAS[record.kind] }));

/** Fields of a spec, published or ours. What belongs to the spec of another kind is left to that one. */
export function specFields(full: FullKind): readonly ComparedField[] {
  return allSpecFields(full).filter(({ path }) => !NESTED_SPECS.some(([at]) => path.startsWith(at)));
}

/** Where inside the spec that of another kind stands. */
export function nestedSpecs(full: FullKind): typeof NESTED_SPECS {
  const fields = allSpecFields(full);
  return NESTED_SPECS.filter(([at]) => fields.some(({ path }) => path.startsWith(at)));
}

/** Fields of a status, published or ours. */
export function statusFields({ record, schemas: { status } }: FullKind): readonly ComparedField[] {
  return status ? compareFields(structural(status), statusTypeOf(record), PUBLISHED_TYPES) : [];
}

/** Whether KubeVirt publishes the kind. */
export function isPublished({ record }: FullKind): boolean {
  return specTypeOf(record) in PUBLISHED_TYPES;
}

/** Whether KubeVirt publishes a status of the kind. */
export function isStatusPublished({ record }: FullKind): boolean {
  return statusTypeOf(record) in PUBLISHED_TYPES;
}

/** What KubeVirt's published types call the status of the kind. */
function statusTypeOf({ kind }: Pick<KindRecord, 'kind'>): string {
  return `${kind}Status`;
}

function allSpecFields({ record, schemas: { spec } }: FullKind): readonly ComparedField[] {
  const type = specTypeOf(record);
  return compareFields(structural(spec), type, record.formerSpec ? { ...PUBLISHED_TYPES, [type]: record.formerSpec } : PUBLISHED_TYPES);
}
