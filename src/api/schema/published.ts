/**
 * Our schema beside KubeVirt's published types: which published fields we honour, and which we know by name alone. The latter stay in the
 * CRD, kept as written, because an API server drops unknown fields before admission sees them: a field that is left out is lost in silence.
 */
import { isObject } from '../../base/json.ts';
import type { StructuralSchema } from './structural.ts';

/** Fields and their types by type name: `boolean`, `[]string`, `{}quantity`, `Disk`; a `~` at the end: an empty value is the same as none. */
export type PublishedTypes = Readonly<Record<string, Readonly<Record<string, string>>>>;

export type ComparedField = {
  /** `domain.devices.disks[].lun`, seen from the root. */
  readonly path: string;
  /** As published; undefined for a field of our own. */
  readonly type?: string;
  readonly isHonoured: boolean;
};

const REFUSED = 'Not supported yet: an object that sets this field is refused.';

/** Every field of ours and the topmost published ones that we do not honour, in alphabetical order. */
export function compareFields(schema: StructuralSchema, typeName: string, types: PublishedTypes, prefix = ''): ComparedField[] {
  const ours = propertiesOf(schema) ?? {};
  const published = types[typeName] ?? {};
  const names = [...new Set([...Object.keys(ours), ...Object.keys(published)])].sort();
  return names.flatMap((name) => {
    const type = published[name];
    const honoured = ours[name];
    const field: ComparedField = { path: `${prefix}${name}`, type, isHonoured: honoured !== undefined };
    const inner = honoured && type ? innerOf(honoured, type) : undefined;
    if (!inner || !type || !(elementOf(type) in types)) return [field];
    return [field, ...compareFields(inner, elementOf(type), types, `${field.path}${type.startsWith('[]') ? '[]' : ''}.`)];
  });
}

/** The schema with the published fields that it lacks, each kept as written and described as refused. */
export function withRefusedFields(schema: StructuralSchema, typeName: string, types: PublishedTypes): StructuralSchema {
  const published = types[typeName];
  const ours = propertiesOf(schema);
  if (!published || !ours) return schema;
  const known = Object.entries(ours).map(([name, child]) => [name, withRefusedInside(child, published[name], types)] as const);
  const refused = Object.entries(published).filter(([name]) => !(name in ours));
  return {
    ...schema,
    properties: { ...Object.fromEntries(known), ...Object.fromEntries(refused.map(([name, type]) => [name, kept(type)])) },
  };
}

function withRefusedInside(schema: StructuralSchema, type: string | undefined, types: PublishedTypes): StructuralSchema {
  const inner = type === undefined ? undefined : innerOf(schema, type);
  if (!inner || type === undefined) return schema;
  const changed = withRefusedFields(inner, elementOf(type), types);
  return inner === schema ? changed : { ...schema, items: changed };
}

/** The part of a schema that has fields of its own: an object, or the items of a list. Undefined for what is kept as a whole. */
function innerOf(schema: StructuralSchema, type: string): StructuralSchema | undefined {
  const inner = type.startsWith('[]') ? schema['items'] : schema;
  return isObject(inner) && propertiesOf(inner) ? inner : undefined;
}

function propertiesOf(schema: StructuralSchema): Readonly<Record<string, StructuralSchema>> | undefined {
  return isObject(schema['properties']) ? (schema['properties'] as Record<string, StructuralSchema>) : undefined; // they hold schemas
}

/** Any value of about the published type; what is inside it is nobody's business, since it is refused as a whole. */
function kept(type: string): StructuralSchema {
  if (['boolean', 'integer', 'string'].includes(type)) return { type, description: REFUSED };
  if (type.startsWith('[]')) return { type: 'array', description: REFUSED, items: { 'x-kubernetes-preserve-unknown-fields': true } };
  if (type === 'quantity' || type === 'intOrString') return { description: REFUSED, 'x-kubernetes-int-or-string': true };
  return { type: 'object', description: REFUSED, 'x-kubernetes-preserve-unknown-fields': true };
}

function elementOf(type: string): string {
  return type.replace(/^(\[\]|\{\})/, '').replace(/~$/, '');
}
