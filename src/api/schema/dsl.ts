/**
 * The schema language of our API kinds: TypeBox underneath, restricted to what a Kubernetes structural schema can say.
 * One value gives the static type, the CRD's openAPIV3Schema and what the run-time engine walks.
 */
import { type Static, type TSchema, Type } from 'typebox';

export type { Static, TSchema };

type Properties = Record<string, TSchema>;

/** A map with known keys. Fields are required unless wrapped in `optional`. */
export function object<P extends Properties>(
  description: string,
  properties: P,
  rules: { default?: Readonly<Record<string, never>> } = {},
) {
  return Type.Object(properties, { description, ...rules });
}

/** Marks a field of an `object` as not required. */
export function optional<S extends TSchema>(schema: S) {
  return Type.Optional(schema);
}

export function text(
  description: string,
  rules: { pattern?: string; minLength?: number; maxLength?: number; default?: string; format?: string } = {},
) {
  return Type.String({ description, ...rules });
}

export function integer(
  description: string,
  rules: { minimum?: number; maximum?: number; default?: number; format?: 'int32' | 'int64' } = {},
) {
  return Type.Integer({ description, format: 'int32', ...rules });
}

export function number(description: string, rules: { minimum?: number; maximum?: number } = {}) {
  return Type.Number({ description, ...rules });
}

export function boolean(description: string) {
  return Type.Boolean({ description });
}

/** One of a few words. */
export function oneOf<const Words extends readonly string[]>(description: string, words: Words) {
  return Type.Unsafe<Words[number]>({ type: 'string', description, enum: [...words] });
}

export function list<S extends TSchema>(description: string, items: S, rules: { maxItems?: number; minItems?: number } = {}) {
  return Type.Array(items, { description, ...rules });
}

/** A list whose items are told apart by these keys. */
export function listBy<S extends TSchema>(description: string, items: S, keys: readonly string[], rules: { maxItems?: number } = {}) {
  return Type.Array(items, { description, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [...keys], ...rules });
}

/** A map with free keys. */
export function mapOf<S extends TSchema>(description: string, values: S) {
  return Type.Unsafe<Readonly<Record<string, Static<S>>>>({ type: 'object', description, additionalProperties: values });
}

/** An amount such as 128Mi or 500m; a bare number is taken too, as in Kubernetes. */
export function quantity(description: string) {
  return Type.Unsafe<string | number>({
    description,
    'x-kubernetes-int-or-string': true,
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    pattern: '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
  });
}

/** A time stamp, RFC 3339. */
export function time(description: string) {
  return Type.String({ description, format: 'date-time' });
}

/** A part that Kubernetes itself defines (affinity, tolerations): kept as written, checked where it is used. */
export function foreign<T = unknown>(description: string, type: 'object' | 'array' = 'object') {
  if (type === 'object') return Type.Unsafe<T>({ type: 'object', description, 'x-kubernetes-preserve-unknown-fields': true });
  return Type.Unsafe<T>({ type: 'array', description, items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } });
}

/** The same schema under a type of ours, where that says more than the one that follows from it. */
export function typedAs<T>(schema: TSchema) {
  return Type.Unsafe<T>(schema);
}
