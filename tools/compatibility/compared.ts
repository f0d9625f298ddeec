/** Our kinds beside the published ones: what the table of refused fields, the CRDs and docs/compatibility.md have in common. */
import { type KindRecord, specTypeOf } from '../../src/api/kind.ts';
import { PUBLISHED_TYPES } from '../../src/api/kubevirt/generated/published-types.ts';
import { type ComparedField, compareFields } from '../../src/api/schema/published.ts';
import { structural } from '../../src/api/schema/structural.ts';
import type { FullKind } from '../kind-files.ts';
import { nestedSpecs } from './nested-specs.ts';

/** Fields of a spec, published or ours. What belongs to the spec of another kind is left to that one. */
export function specFields(full: FullKind): readonly ComparedField[] {
  const nested = nestedSpecs(full);
  return allSpecFields(full).filter(({ path }) => !nested.some(({ at }) => path.startsWith(at)));
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
