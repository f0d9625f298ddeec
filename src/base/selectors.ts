/** Label selectors (text and object form) and field selectors, as the API grammar has them. */
import { ApiError } from './errors.ts';
import { isObject, type JsonObject } from './json.ts';

export type Requirement = {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values: readonly string[];
};
export type LabelSelector = {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] }[];
};
export type FieldRequirement = { readonly path: string; readonly value: string; readonly isNegated: boolean };
type Labels = Readonly<Record<string, string>> | undefined;

/** Nobody needs a tenth of it. */
const MAX_TERMS = 256;
const KEY = '[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?';
const SET_TERM = new RegExp(`^(${KEY})\\s+(in|notin)\\s*\\(([^)]*)\\)$`);
const EQUALS_TERM = new RegExp(`^(${KEY})\\s*(==|=|!=)\\s*([-A-Za-z0-9_.]*)$`);
const EXISTS_TERM = new RegExp(`^(!?)\\s*(${KEY})$`);

/** Parses `a=b,c in (d,e),!f`; throws BadRequest on anything else. */
export function parseLabelSelector(text: string): Requirement[] {
  const terms = text.match(/(?:[^,(]|\([^)]*\)?)+/g) ?? [];
  assertFew(terms);
  return terms.map((term) => parseTerm(term.trim(), text));
}

/** A watch holds each of them against each change: hundreds of watches with thousands of terms are a second for one write. */
function assertFew({ length }: readonly string[]): void {
  if (length > MAX_TERMS)
    throw new ApiError('BadRequest', `invalid selector: it has ${length} requirements, and ${MAX_TERMS} are the most`);
}

function parseTerm(term: string, whole: string): Requirement {
  const set = SET_TERM.exec(term);
  if (set) return { key: set[1]!, operator: set[2] === 'in' ? 'In' : 'NotIn', values: set[3]!.split(',').map((value) => value.trim()) };
  const equals = EQUALS_TERM.exec(term);
  if (equals) return { key: equals[1]!, operator: equals[2] === '!=' ? 'NotIn' : 'In', values: [equals[3]!] };
  const exists = EXISTS_TERM.exec(term);
  if (exists) return { key: exists[2]!, operator: exists[1] ? 'DoesNotExist' : 'Exists', values: [] };
  throw new ApiError(
    'BadRequest',
    `unable to parse requirement: cannot read ${JSON.stringify(term)} in label selector ${JSON.stringify(whole)}`,
  );
}

/** The object form (spec.selector of workloads) as requirements. */
export function requirementsOf(selector: LabelSelector): Requirement[] {
  const equal = Object.entries(selector.matchLabels ?? {}).map(([key, value]): Requirement => ({ key, operator: 'In', values: [value] }));
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values }): Requirement => ({ key, operator: operator as Requirement['operator'], values: values ?? [] }),
  );
  return [...equal, ...expressions];
}

/** Labels, expressions and values of a selector in an object, of either kind: what it costs to hold it against labels. */
export function selectorSize(selector: JsonObject): number {
  const { matchLabels, matchExpressions } = selector;
  if (!isObject(matchLabels) && !Array.isArray(matchExpressions)) return Object.keys(selector).length;
  const expressions: readonly unknown[] = Array.isArray(matchExpressions) ? matchExpressions : [];
  const inExpressions = expressions.reduce<number>(
    (sum, each) => sum + 1 + (isObject(each) && Array.isArray(each['values']) ? each['values'].length : 0),
    0,
  );
  return Object.keys(isObject(matchLabels) ? matchLabels : {}).length + inExpressions;
}

/** True when the labels meet every requirement. */
export function matchesLabels(requirements: readonly Requirement[], labels: Labels): boolean {
  return requirements.every((each) => meetsRequirement(each, labels && Object.hasOwn(labels, each.key) ? labels[each.key] : undefined));
}

/** True when a value, or its absence, is what the operator asks for. */
export function meetsRequirement({ operator, values }: Pick<Requirement, 'operator' | 'values'>, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}

/** Parses `spec.nodeName=n1,status.phase!=Failed`; throws BadRequest on anything else. */
export function parseFieldSelector(text: string): FieldRequirement[] {
  const terms = text.match(/(?:\\.|[^,\\])+/g) ?? [];
  assertFew(terms);
  return terms.map((term) => {
    const match = /^([^=!]+)(==|=|!=)([\s\S]*)$/.exec(term);
    if (!match) throw new ApiError('BadRequest', `invalid selector: ${JSON.stringify(text)}; can't understand ${JSON.stringify(term)}`);
    return { path: match[1]!, isNegated: match[2] === '!=', value: match[3]!.replace(/\\(.)/g, '$1') };
  });
}

/** The form that the scale subresource hands to autoscalers. */
export function selectorText(selector: LabelSelector): string {
  return requirementsOf(selector)
    .map(({ key, operator, values }) => {
      if (operator === 'Exists') return key;
      if (operator === 'DoesNotExist') return `!${key}`;
      if (operator === 'In' && values.length === 1) return `${key}=${values[0]}`;
      return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.toSorted().join(',')})`;
    })
    .join(',');
}
