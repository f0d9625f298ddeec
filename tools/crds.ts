/** The CustomResourceDefinitions of the product, made from the records and schemas of its kinds. `npm run generate` writes them to deploy/crds. */
import { specTypeOf } from '../src/api/kind.ts';
import { PUBLISHED_TYPES } from '../src/api/kubevirt/generated/published-types.ts';
import { whyRefused } from '../src/api/kubevirt/why-refused.ts';
import { type CustomResourceDefinition, crdFor } from '../src/api/schema/crd.ts';
import { nestedSpecs } from './compatibility/nested-specs.ts';
import { type FullKind, KIND_FILES } from './kind-files.ts';

/** The definition of a kind: with the published fields that are refused, so that they can be refused. */
export function crdOf(full: FullKind): CustomResourceDefinition {
  const { record, schemas } = full;
  const type = specTypeOf(record);
  const types = record.formerSpec ? { ...PUBLISHED_TYPES, [type]: record.formerSpec } : PUBLISHED_TYPES;
  const describe = (path: string) => `Refused when set: ${reasonFor(full, path) ?? 'not supported yet'}.`;
  return crdFor(record, { ...schemas, published: { types, type, describe } });
}

export const CRDS: readonly CustomResourceDefinition[] = KIND_FILES.map(crdOf);

/** The reason of the kind whose spec the field is in. */
function reasonFor(full: FullKind, path: string): string | undefined {
  const nested = nestedSpecs(full).find(({ at }) => path.startsWith(at));
  return nested ? reasonFor(nested.of, path.slice(nested.at.length)) : whyRefused(full.record, path);
}
