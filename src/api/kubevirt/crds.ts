/** The CustomResourceDefinitions of the product, made from the records of its kinds. `npm run generate` writes them to deploy/crds. */
import { type KindRecord, specTypeOf } from '../kind.ts';
import { type CustomResourceDefinition, crdFor } from '../schema/crd.ts';
import { PUBLISHED_TYPES } from './generated/published-types.ts';
import { KINDS } from './kinds-table.ts';
import { type KindSchemas, SCHEMAS } from './schemas-table.ts';
import { whyRefused } from './why-refused.ts';

/** The definition of a kind: with the published fields that are refused, so that they can be refused. */
export function crdOf(kind: KindRecord, schemas: KindSchemas): CustomResourceDefinition {
  const type = specTypeOf(kind);
  const types = kind.formerSpec ? { ...PUBLISHED_TYPES, [type]: kind.formerSpec } : PUBLISHED_TYPES;
  const describe = (path: string) => `Refused when set: ${whyRefused(kind, path) ?? 'not supported yet'}.`;
  return crdFor(kind, { ...schemas, published: { types, type, describe } });
}

export const CRDS: readonly CustomResourceDefinition[] = KINDS.map((kind) => crdOf(kind, SCHEMAS[kind.kind]));
