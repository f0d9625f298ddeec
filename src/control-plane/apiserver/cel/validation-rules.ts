/**
 * x-kubernetes-validations: the rules of a definition, held against an object.
 *
 *   rule speaks of oldSelf                 only held against a change of what was there before, unless optionalOldSelf
 *   the part did not change                not held against it again: what was stored once can be stored again
 *   message, or messageExpression          what the writer is told
 *   cannot be evaluated, or costs too much the object is refused with the reason
 */
import { Optional } from '@marcbachmann/cel-js';
import { forbiddenCause, invalidCause, requiredCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { deepEqual, isObject } from '../../../base/json.ts';
import { itemStep, shapeOf } from '../apply/shape.ts';
import { itemsByStep } from '../apply/walk-fields.ts';
import { asResource } from '../schema/resource-root.ts';
import { childOf, pathTo, type Schema, type ValidationRule } from '../schema/schema.ts';
import { CelError, type Compiled, CostExceeded, compileExpression } from './compile.ts';
import { Budget, deepSizeOf } from './meter.ts';
import { celValue } from './values.ts';

/** More failed rules than anybody mends at once, and a bound for lists whose every item breaks one. */
const MAX_CAUSES = 100;
const MAX_MESSAGE = 5 * 1024;
/** To hand a value to an expression costs less than to work with it. */
const VALUES_PER_UNIT = 10;

type Ready = { readonly rule: ValidationRule; readonly test: Compiled; readonly message: Compiled | undefined };

/** Every rule of the schema that the object breaks. */
export function ruleCauses(schema: Schema, object: object, old: object | undefined): StatusCause[] {
  const root = asResource(schema);
  if (!hasRules(root)) return [];
  const found: StatusCause[] = [];
  hold({ found, budget: new Budget() }, { schema: root, value: object, old, path: '' });
  return found;
}

type Part = { readonly schema: Schema; readonly value: unknown; readonly old: unknown; readonly path: string };
type Held = { readonly found: StatusCause[]; readonly budget: Budget };

function hold(held: Held, part: Part): void {
  const { schema, value, old, path } = part;
  if (!hasRules(schema) || value === null || value === undefined || isOver(held)) return;
  const rules = readyRules(schema);
  if (rules.length > 0) holdRules(held, part, rules);
  if (Array.isArray(value)) {
    const before = correlated(schema, value, old);
    value.forEach((item, index) => {
      if (schema.items) hold(held, { schema: schema.items, value: item, old: before(item), path: pathTo(path, index) });
    });
  } else if (isObject(value)) {
    for (const [key, field] of Object.entries(value)) {
      const child = childOf(schema, key);
      if (child) hold(held, { schema: child, value: field, old: isObject(old) ? old[key] : undefined, path: pathTo(path, key) });
    }
  }
}

/** The item of the old list that an item was; only a list by keys can say. */
function correlated(schema: Schema, value: readonly unknown[], old: unknown): (item: unknown) => unknown {
  const shape = shapeOf(schema, value);
  if (shape.as !== 'keyed' || !Array.isArray(old)) return () => undefined;
  const before = itemsByStep(old, (item) => itemStep(shape, item));
  return (item) => before.get(itemStep(shape, item) ?? '');
}

function isOver({ found, budget }: Held): boolean {
  return found.length >= MAX_CAUSES || budget.isSpent;
}

function holdRules(held: Held, { schema, value, old, path }: Part, rules: readonly Ready[]): void {
  const { found, budget } = held;
  const isSame = old !== undefined && deepEqual(value, old);
  const due = rules.filter(({ rule, test }) => (test.uses('oldSelf') ? old !== undefined || rule.optionalOldSelf : !isSame));
  if (due.length === 0) return;
  const size = deepSizeOf(value) + (old === undefined ? 0 : deepSizeOf(old));
  if (!budget.spend(size / VALUES_PER_UNIT)) {
    found.push(
      invalidCause(path, schema.type, 'validation failed due to running out of cost budget, no further validation rules will be run'),
    );
    return;
  }
  const self = celValue(schema, value, true);
  const before = old === undefined ? undefined : celValue(schema, old, true);
  for (const { rule, test, message } of due) {
    const oldSelf = rule.optionalOldSelf ? (before === undefined ? Optional.none() : Optional.of(before)) : before;
    const variables = { self, oldSelf };
    try {
      if (test.evaluate(variables, budget) === true) continue;
      found.push(brokenRule(rule, { path, schema, text: textOf(rule, message?.evaluate.bind(undefined, variables, budget)) }));
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      found.push(invalidCause(path, schema.type, failureText(error, rule)));
    }
    if (isOver(held)) return;
  }
}

/** In the words of Kubernetes. */
function failureText(error: CelError, rule: ValidationRule): string {
  const name = rule.message?.trim() || rule.rule.trim();
  if (error instanceof CostExceeded) {
    return `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${name}`;
  }
  if (/^(no such overload|found no matching overload)/.test(error.message)) {
    return `'${error.message}': call arguments did not match a supported operator, function or macro signature for rule: ${name}`;
  }
  return `${error.message} evaluating rule: ${name}`;
}

function brokenRule(
  rule: ValidationRule,
  { path, schema, text }: { readonly path: string; readonly schema: Schema; readonly text: string },
): StatusCause {
  const field = rule.fieldPath ? `${path}${rule.fieldPath}`.replace(/^\./, '') : path;
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return forbiddenCause(field, text);
    case 'FieldValueRequired':
      return requiredCause(field, text);
    case 'FieldValueDuplicate':
      return { reason: 'FieldValueDuplicate', message: `Duplicate value: ${JSON.stringify(schema.type)}`, field };
    default:
      return invalidCause(field, schema.type, text);
  }
}

/** What the writer is told; an expression that says nothing of use leaves it to the message. */
function textOf(rule: ValidationRule, evaluate: (() => unknown) | undefined): string {
  let made: unknown;
  try {
    made = evaluate?.();
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
  }
  if (typeof made === 'string' && made.trim() !== '' && made.length <= MAX_MESSAGE && !made.includes('\n')) return made.trim();
  return rule.message?.trim() || `failed rule: ${rule.rule.trim()}`;
}

const known = new WeakMap<Schema, { readonly hasRules?: boolean; readonly ready?: readonly Ready[] }>();

/** Whether a schema has rules anywhere: most have none, and are not walked. */
function hasRules(schema: Schema): boolean {
  const remembered = known.get(schema)?.hasRules;
  if (remembered !== undefined) return remembered;
  const { items, additionalProperties, properties = {} } = schema;
  // Of built-in kinds, metadata included, nothing has rules; and their definitions may contain themselves.
  const has =
    schema.definition === undefined &&
    ((schema['x-kubernetes-validations']?.length ?? 0) > 0 ||
      (items !== undefined && hasRules(items)) ||
      (isObject(additionalProperties) && hasRules(additionalProperties)) ||
      Object.values(properties).some(hasRules));
  known.set(schema, { ...known.get(schema), hasRules: has });
  return has;
}

/** The rules of a node, compiled once. What does not compile was refused with its definition; of one that is older, it breaks no object. */
function readyRules(schema: Schema): readonly Ready[] {
  const remembered = known.get(schema)?.ready;
  if (remembered) return remembered;
  const ready = (schema['x-kubernetes-validations'] ?? []).flatMap((rule): Ready[] => {
    try {
      return [readyRule(rule)];
    } catch (error) {
      if (error instanceof CelError) return [];
      throw error;
    }
  });
  known.set(schema, { ...known.get(schema), ready });
  return ready;
}

function readyRule(rule: ValidationRule): Ready {
  const variables = { self: 'dyn', oldSelf: 'dyn' };
  const test = compileExpression(rule.rule, { variables, result: 'bool' });
  const message = rule.messageExpression ? compileExpression(rule.messageExpression, { variables, result: 'string' }) : undefined;
  return { rule, test, message };
}
