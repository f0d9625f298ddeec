/**
 * The rules of a definition, when it is written: what cannot be compiled against the types that the schema gives is refused, and so is what
 * would cost more to compile than a definition is worth.
 */
import type { Environment } from '@marcbachmann/cel-js';
import { forbiddenCause, invalidCause, requiredCause, unsupportedCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { deepEqual, isObject } from '../../../base/json.ts';
import { asResource } from '../schema/resource-root.ts';
import type { Schema, ValidationRule } from '../schema/schema.ts';
import type { Crd } from '../types/custom-resource-types.ts';
import { CelError, type Compiled, compileExpression } from './compile.ts';
import { escapedName } from './values.ts';

const REASONS = ['FieldValueInvalid', 'FieldValueForbidden', 'FieldValueRequired', 'FieldValueDuplicate'];
/** For all versions of a definition together: rules, their characters, and the nodes of schemas whose types they need. */
const MAX_RULES = 1_000;
const MAX_TEXT = 256 * 1024;
const MAX_TYPED = 100_000;

type Work = { rules: number; text: number; typed: number };
type Place = {
  readonly schema: Schema;
  readonly path: string;
  /** The list above whose items cannot be told apart from one write to the next. */
  readonly uncorrelated?: string | undefined;
};

/** What is wrong with the rules of a definition; those that an update leaves as they are stay as they are. */
export function definitionRuleCauses(crd: Crd, old: Crd | undefined): StatusCause[] {
  const work: Work = { rules: 0, text: 0, typed: 0 };
  return crd.spec.versions.flatMap(({ name, schema }, index) => {
    const root = schema?.openAPIV3Schema;
    const before = old?.spec.versions.find((version) => version.name === name)?.schema?.openAPIV3Schema;
    if (!root || (before && deepEqual(root, before))) return [];
    const path = `spec.versions[${index}].schema.openAPIV3Schema`;
    return [...rulesAt(work, { schema: asResource(root), path }), ...below(work, { schema: root, path })];
  });
}

function below(work: Work, { schema, path, uncorrelated }: Place): StatusCause[] {
  const { properties = {}, items, additionalProperties } = schema;
  const isUncorrelated = schema.type === 'array' && schema['x-kubernetes-list-type'] !== 'map';
  const children: Place[] = Object.entries(properties).map(([key, child]) => ({
    schema: child,
    path: `${path}.properties[${key}]`,
    uncorrelated,
  }));
  if (items) children.push({ schema: items, path: `${path}.items`, uncorrelated: uncorrelated ?? (isUncorrelated ? path : undefined) });
  if (isObject(additionalProperties)) children.push({ schema: additionalProperties, path: `${path}.additionalProperties`, uncorrelated });
  return children.flatMap((child) => [...rulesAt(work, child), ...below(work, child)]);
}

function rulesAt(work: Work, place: Place): StatusCause[] {
  const rules = place.schema['x-kubernetes-validations'] ?? [];
  if (rules.length === 0) return [];
  const field = `${place.path}.x-kubernetes-validations`;
  work.rules += rules.length;
  work.text += rules.reduce((sum, { rule = '', messageExpression = '' }) => sum + rule.length + messageExpression.length, 0);
  if (work.rules > MAX_RULES) return [forbiddenCause(field, `a definition must not have more than ${MAX_RULES} rules`)];
  if (work.text > MAX_TEXT) return [forbiddenCause(field, `the rules of a definition must not have more than ${MAX_TEXT} characters`)];
  const typed = typedSelf(work, place.schema);
  if (work.typed > MAX_TYPED) return [forbiddenCause(field, `the schemas that rules apply to must not have more than ${MAX_TYPED} nodes`)];
  return rules.flatMap((rule, index) => {
    const at = `${field}[${index}]`;
    const causes = writtenCauses(rule, at);
    if (rule.fieldPath && !isField(place.schema, rule.fieldPath))
      causes.push(invalidCause(`${at}.fieldPath`, rule.fieldPath, 'fieldPath must be a valid path'));
    return rule.rule?.trim() ? [...causes, ...compileCauses(rule, { at, place, typed })] : causes;
  });
}

const LINE_BREAK = /[\r\n]/;

/** What can be said without compiling anything. */
function writtenCauses(rule: ValidationRule, at: string): StatusCause[] {
  const { message, messageExpression, reason } = rule;
  const causes: StatusCause[] = [];
  const text = rule.rule?.trim() ?? '';
  if (text === '') causes.push(requiredCause(`${at}.rule`, 'rule is not specified'));
  if (message !== undefined && message !== '' && message.trim() === '') {
    causes.push(invalidCause(`${at}.message`, message, 'message must be non-empty if specified'));
  } else if (LINE_BREAK.test(message?.trim() ?? '')) {
    causes.push(invalidCause(`${at}.message`, message, 'message must not contain line breaks'));
  } else if (LINE_BREAK.test(text) && !message) {
    causes.push(requiredCause(`${at}.message`, 'message must be specified if rule contains line breaks'));
  }
  if (messageExpression && messageExpression.trim() === '') {
    causes.push(requiredCause(`${at}.messageExpression`, 'must be non-empty if specified'));
  }
  if (reason !== undefined && !REASONS.includes(reason)) causes.push(unsupportedCause(`${at}.reason`, reason, REASONS));
  return causes;
}

type Typed = { readonly self: string; readonly declare: (environment: Environment) => void };

function compileCauses(
  rule: ValidationRule,
  { at, place, typed }: { readonly at: string; readonly place: Place; readonly typed: Typed },
): StatusCause[] {
  const variables = { self: typed.self, oldSelf: rule.optionalOldSelf ? 'optional' : typed.self };
  const causes: StatusCause[] = [];
  const compiled = (field: 'rule' | 'messageExpression', result: 'bool' | 'string', prefix: string): Compiled | undefined => {
    try {
      return compileExpression(rule[field] ?? '', { variables, result, declare: typed.declare });
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      causes.push(invalidCause(`${at}.${field}`, rule[field], `${prefix}: ${error.message}`));
      return undefined;
    }
  };
  const test = compiled('rule', 'bool', 'compilation failed');
  if (rule.messageExpression?.trim()) compiled('messageExpression', 'string', 'messageExpression compilation failed');
  const isTransition = test?.uses('oldSelf') ?? false;
  if (isTransition && place.uncorrelated) {
    const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.uncorrelated}`;
    causes.push(invalidCause(`${at}.rule`, rule.rule, why));
  }
  if (test && !isTransition && rule.optionalOldSelf !== undefined) {
    causes.push(invalidCause(`${at}.optionalOldSelf`, rule.optionalOldSelf, 'may not be set if oldSelf is not used in rule'));
  }
  return causes;
}

const STEP = /^(?:\.([A-Za-z_][\w-]*)|\['((?:[^'\\]|\\.)+)'\])/;

/** Whether a path such as `.spec['x.y']` leads to a field; items of lists have none. */
function isField(schema: Schema, fieldPath: string): boolean {
  let node: Schema | undefined = schema;
  let rest = fieldPath;
  while (rest !== '') {
    const step = STEP.exec(rest);
    const name = step?.[1] ?? step?.[2];
    if (!step || name === undefined || !node) return false;
    const named: Schema | undefined = node.properties && Object.hasOwn(node.properties, name) ? node.properties[name] : undefined;
    node = named ?? (isObject(node.additionalProperties) ? node.additionalProperties : undefined);
    rest = rest.slice(step[0].length);
  }
  return node !== undefined;
}

/** The type of `self`, and how to make known what it consists of. */
function typedSelf(work: Work, schema: Schema): Typed {
  const types: [string, Record<string, string>][] = [];
  const self = typeOf(work, schema, types);
  return { self, declare: (environment) => types.forEach(([name, fields]) => environment.registerType(name, { fields })) };
}

function typeOf(work: Work, schema: Schema, types: [string, Record<string, string>][]): string {
  work.typed += 1;
  if (work.typed > MAX_TYPED) return 'dyn';
  const { type, format, items, additionalProperties, properties } = schema;
  if (schema['x-kubernetes-int-or-string'] || schema['x-kubernetes-preserve-unknown-fields'] || schema.nullable) return 'dyn';
  switch (type) {
    case 'integer':
      return 'int';
    case 'number':
      return 'double';
    case 'boolean':
      return 'bool';
    case 'string':
      return { 'date-time': 'google.protobuf.Timestamp', duration: 'google.protobuf.Duration', byte: 'bytes' }[format ?? ''] ?? 'string';
    case 'array':
      return `list<${items ? typeOf(work, items, types) : 'dyn'}>`;
    case 'object': {
      if (isObject(additionalProperties)) return `map<string, ${typeOf(work, additionalProperties, types)}>`;
      if (!properties || schema['x-kubernetes-embedded-resource']) return 'dyn';
      const fields = Object.entries(properties).map(([key, child]): [string, string] => [
        escapedName(key),
        key === 'metadata' ? 'dyn' : typeOf(work, child, types),
      ]);
      const name = `Node${types.length}`;
      types.push([name, Object.fromEntries(fields)]);
      return name;
    }
  }
  return 'dyn';
}
