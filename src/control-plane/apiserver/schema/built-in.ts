/**
 * Schemas of the kinds Kubernetes itself defines, from the generated table plus what the published documents leave out.
 * Definitions share each other and may be recursive, so a node looks its children up when they are first asked for.
 */
import { isObject } from '../../../base/json.ts';
import { DEFAULTS, DERIVED_DEFAULTS } from './built-in-defaults-table.ts';
import { RULES } from './built-in-rules-table.ts';
import { DEFINITIONS, KINDS } from './generated/built-in.ts';
import type { Schema } from './schema.ts';

type Stored = Omit<Schema, 'properties' | 'items' | 'additionalProperties'> & {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Stored>>;
  readonly items?: Stored;
  readonly additionalProperties?: Stored;
};

/** Resolved definitions. The table never changes, so neither does an entry. */
const resolved = new Map<string, Schema>();

/** The schema of a built-in kind, undefined when it is not in the table. */
export function builtInSchema(group: string, version: string, kind: string): Schema | undefined {
  const name = ownValue(KINDS, `${group}/${version}/${kind}`);
  if (name === undefined) return undefined;
  const schema = definitionOf(name);
  return { ...schema, 'x-kubernetes-group-version-kind': [{ group, version, kind }] };
}

/** The schema of a shared definition such as `io.k8s.api.core.v1.PodSpec`. */
export function definitionOf(name: string): Schema {
  const known = resolved.get(name);
  if (known) return known;
  const text = ownValue(DEFINITIONS, name);
  if (text === undefined) throw new Error(`Cannot resolve definition ${name}: it is not in the table of built-in schemas`);
  // The text was written by our own generator in exactly this form.
  const stored = JSON.parse(text) as Stored;
  const schema = { ...nodeOf(completed(name, stored)), definition: name };
  resolved.set(name, schema);
  return schema;
}

/** The schema every object's `metadata` follows. */
export function objectMetaSchema(): Schema {
  return definitionOf('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta');
}

/** Adds the defaults, enumerations and required fields that the real server has in code. */
function completed(name: string, stored: Stored): Stored & Pick<Schema, 'deriveDefaults'> {
  const defaults = ownValue(DEFAULTS, name) ?? {};
  const { required = [], mustBeSet = [], enums = {} } = ownValue(RULES, name) ?? {};
  const properties: Record<string, Stored> = { ...stored.properties };
  for (const [field, node] of Object.entries(properties)) if (isObject(node.default)) properties[field] = { ...node, isStruct: true };
  for (const field of mustBeSet) {
    const { default: _, ...rest } = properties[field] ?? {};
    properties[field] = rest;
  }
  for (const [field, value] of Object.entries(defaults)) properties[field] = { ...properties[field], default: value };
  for (const [field, values] of Object.entries(enums)) properties[field] = { ...properties[field], enum: values };
  const allRequired = [...new Set([...(stored.required ?? []), ...required, ...mustBeSet])];
  return {
    ...stored,
    ...(stored.properties && { properties }),
    ...(allRequired.length > 0 && { required: allRequired }),
    deriveDefaults: ownValue(DERIVED_DEFAULTS, name),
  };
}

function nodeOf({ $ref, properties, items, additionalProperties, ...rest }: Stored): Schema {
  if ($ref !== undefined) return { ...definitionOf($ref), ...rest };
  const node: Schema = { ...rest };
  if (properties) {
    const fields: Readonly<Record<string, Schema>> = {};
    for (const [field, stored] of Object.entries(properties)) defineLazily(fields, field, stored);
    Object.assign(node, { properties: fields });
  }
  if (items) defineLazily(node, 'items', items);
  if (additionalProperties) defineLazily(node, 'additionalProperties', additionalProperties);
  return node;
}

/** A property that is resolved at the first look and is a plain value from then on. */
function defineLazily(target: object, key: string, stored: Stored): void {
  Object.defineProperty(target, key, {
    enumerable: true,
    configurable: true,
    get() {
      const value = nodeOf(stored);
      Object.defineProperty(target, key, { value, enumerable: true });
      return value;
    },
  });
}

function ownValue<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
