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

/** The published API as a schema is completed from: its types, which of them the schema is, and the words for a field that is refused. */
export type Published = { readonly types: PublishedTypes; readonly type: string; readonly describe: (path: string) => string };

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
export function withRefusedFields(schema: StructuralSchema, { types, type, describe }: Published, prefix = ''): StructuralSchema {
  const published = types[type];
  const ours = propertiesOf(schema);
  if (!published || !ours) return schema;
  const known = Object.entries(ours).map(([name, child]) => {
    const fieldType = published[name];
    const inner = fieldType && innerOf(child, fieldType);
    if (!inner) return [name, child] as const;
    const isList = inner !== child;
    const completed = withRefusedFields(inner, { types, type: elementOf(fieldType), describe }, `${prefix}${name}${isList ? '[]' : ''}.`);
    return [name, isList ? { ...child, items: completed } : completed] as const;
  });
  const refused = Object.entries(published).filter(([name]) => !(name in ours));
  const kept = refused.map(([name, fieldType]) => [name, { ...anyValue(fieldType), description: describe(`${prefix}${name}`) }] as const);
  return { ...schema, properties: { ...Object.fromEntries(known), ...Object.fromEntries(kept) } };
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
function anyValue(type: string): StructuralSchema {
  if (['boolean', 'integer', 'string'].includes(type)) return { type };
  if (type.startsWith('[]')) return { type: 'array', items: { 'x-kubernetes-preserve-unknown-fields': true } };
  if (type === 'quantity' || type === 'intOrString') return { 'x-kubernetes-int-or-string': true };
  return { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
}

function elementOf(type: string): string {
  return type.replace(/^(\[\]|\{\})/, '').replace(/~$/, '');
}
