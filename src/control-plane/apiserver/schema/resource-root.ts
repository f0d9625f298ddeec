/** Makes the schema of a whole object out of what a CRD says: apiVersion, kind and metadata are always there and always mean the same. */
import { objectMetaSchema } from './built-in.ts';
import type { Schema } from './schema.ts';

/** What a schema became, so that equal questions do not build equal answers. Schemas are never changed in place. */
const roots = new WeakMap<Schema, Schema>();

/** The schema with the three fields every object has. What a CRD says about metadata only restricts it further. */
export function asResource(schema: Schema): Schema {
  const known = roots.get(schema);
  if (known) return known;
  const root = schema.definition === undefined ? withObjectFields(schema) : schema;
  roots.set(schema, root);
  return root;
}

function withObjectFields(schema: Schema): Schema {
  const metadata: Schema = { ...objectMetaSchema(), ...(schema.properties?.['metadata'] && { allOf: [schema.properties['metadata']] }) };
  return {
    ...schema,
    type: 'object',
    properties: { apiVersion: { type: 'string' }, kind: { type: 'string' }, ...schema.properties, metadata },
  };
}
