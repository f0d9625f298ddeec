/** The schema language of the API server: OpenAPI v3, as far as Kubernetes' structural schemas go. */
import type { JsonObject } from '../../../base/json.ts';

type SchemaType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
type GroupVersionKind = { readonly group: string; readonly version: string; readonly kind: string };

/** A rule in CEL. */
export type ValidationRule = {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  /** Relative to the node that has the rule: `.spec.x`. */
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
};

export type Schema = {
  readonly type?: SchemaType;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly nullable?: boolean;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'granular' | 'atomic';
  readonly 'x-kubernetes-patch-strategy'?: string;
  readonly 'x-kubernetes-patch-merge-key'?: string;
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[];
  readonly 'x-kubernetes-group-version-kind'?: readonly GroupVersionKind[];
  /** The shared definition this node stands for (built-in kinds): OpenAPI refers to it by this name. */
  readonly definition?: string;
  /** A struct that Go has in every object, said or not (built-in kinds). */
  readonly isStruct?: boolean;
  /** Defaults that depend on the other fields of the object, which already has its fixed defaults. */
  readonly deriveDefaults?: (object: JsonObject) => JsonObject;
};

/** The schema of a field or map value, undefined when the node does not name it. */
export function childOf(schema: Schema, key: string): Schema | undefined {
  return propertyOf(schema, key) ?? valuesOf(schema);
}

/** `spec` + `size` is `spec.size`; the root has no name. */
export function pathTo(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  return path === '' ? key : `${path}.${key}`;
}

/** A key such as `constructor` is only a field if it is written there. */
function propertyOf({ properties }: Schema, key: string): Schema | undefined {
  return properties && Object.hasOwn(properties, key) ? properties[key] : undefined;
}

function valuesOf({ additionalProperties }: Schema): Schema | undefined {
  if (additionalProperties === true) return { 'x-kubernetes-preserve-unknown-fields': true };
  return additionalProperties === false ? undefined : additionalProperties;
}
