/**
 * The part of kubectl's JSONPath that printer columns use: `.spec.a.b`, `.a\.b`, `['a.b']`, `[0]`, `[-1]`, `[*]`, `.*`, `[?(@.type=="Ready")]`.
 * A path is parsed into steps and walked; nothing in it is ever run.
 */
import { isObject } from '../../../base/json.ts';

type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'all' }
  | { readonly kind: 'filter'; readonly path: readonly Step[]; readonly operator: '==' | '!=' | 'exists'; readonly literal: unknown };

/** A parsed path; ask it with `findAll`. */
export type JsonPath = readonly Step[];

/** The steps of a path, undefined when it is not one. */
export function parseJsonPath(text: string): JsonPath | undefined {
  const inner = /^\{(.*)\}$/s.exec(text.trim())?.[1] ?? text.trim();
  const steps: Step[] = [];
  let rest = inner.startsWith('$') ? inner.slice(1) : inner;
  while (rest !== '') {
    const found = bracketStep(rest) ?? dottedStep(rest);
    if (!found) return undefined;
    if (found.step) steps.push(found.step);
    rest = rest.slice(found.length);
  }
  return steps;
}

/** Every value the path leads to, in the order of the document. */
export function findAll(path: JsonPath, value: unknown): unknown[] {
  return path.reduce<unknown[]>((values, step) => values.flatMap((item) => takeStep(step, item)), [value]);
}

type Found = { readonly step?: Step; readonly length: number };

/** A name ends at the next dot or bracket that is not escaped. */
function dottedStep(text: string): Found | undefined {
  const match = /^\.((?:\\.|[^.[\]\\'"\s])*)/.exec(text);
  if (!match) return undefined;
  const [{ length }, name = ''] = match;
  if (name === '*') return { step: { kind: 'all' }, length };
  if (name === '') return text === '.' || text.startsWith('.[') ? { length } : undefined;
  return { step: { kind: 'field', name: name.replace(/\\(.)/g, '$1') }, length };
}

function bracketStep(text: string): Found | undefined {
  const filter = /^\[\?\(\s*@((?:\\.|[^=!\s)\\])*)\s*(?:(==|!=)\s*("[^"]*"|'[^']*'|[^)\s]+)\s*)?\)\]/.exec(text);
  if (filter) return filterStep(filter);
  const quoted = /^\[(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)")\]/.exec(text);
  if (quoted) {
    const name = (quoted[1] ?? quoted[2] ?? '').replace(/\\(.)/g, '$1');
    return { step: { kind: 'field', name }, length: quoted[0].length };
  }
  const plain = /^\[(\*|-?\d+)\]/.exec(text);
  if (!plain) return undefined;
  const [{ length }, content = ''] = plain;
  return { step: content === '*' ? { kind: 'all' } : { kind: 'index', index: Number(content) }, length };
}

function filterStep([whole, left = '', operator, right]: RegExpExecArray): Found | undefined {
  const path = parseJsonPath(left);
  if (!path) return undefined;
  const step: Step = {
    kind: 'filter',
    path,
    operator: operator === '==' || operator === '!=' ? operator : 'exists',
    literal: literalOf(right),
  };
  return { step, length: whole.length };
}

function literalOf(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  if (/^["']/.test(text)) return text.slice(1, -1);
  if (text === 'true' || text === 'false') return text === 'true';
  return Number.isNaN(Number(text)) ? text : Number(text);
}

function takeStep(step: Step, value: unknown): unknown[] {
  switch (step.kind) {
    case 'field':
      return isObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
    case 'index':
      return Array.isArray(value) ? value.slice(step.index, step.index === -1 ? undefined : step.index + 1) : [];
    case 'all':
      return Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
    case 'filter':
      return Array.isArray(value) ? value.filter((item) => passes(step, item)) : [];
  }
}

function passes({ path, operator, literal }: Extract<Step, { kind: 'filter' }>, item: unknown): boolean {
  const found = findAll(path, item);
  if (operator === 'exists') return found.length > 0;
  return found.length > 0 && (found[0] === literal) === (operator === '==');
}
