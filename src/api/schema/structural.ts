/** A schema of ours as the plain JSON that a CRD holds. */
import type { TSchema } from './dsl.ts';

export type StructuralSchema = { readonly [keyword: string]: unknown };

/** Only what is data: the marks that TypeBox keeps beside it are no JSON and stay behind. */
export function structural(schema: TSchema): StructuralSchema {
  return JSON.parse(JSON.stringify(schema, (key, value: unknown) => (key.startsWith('~') ? undefined : value))) as StructuralSchema;
}
