/**
 * spec.affinity, by the rules that Kubernetes has for Pods: a wrong one would otherwise be refused only when the Pod is made, where the
 * author no longer looks. The definition keeps it as written, so every type is checked here, too.
 */
import { invalidCause, requiredCause, unsupportedCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';
const AFFINITIES = ['nodeAffinity', 'podAffinity', 'podAntiAffinity'];
const NODE_OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'];
const LABEL_OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

export function validateAffinity(affinity: unknown, path: string): StatusCause[] {
  if (affinity === undefined) return [];
  return eachField(affinity, path, (kind, rules, at) => {
    if (!AFFINITIES.includes(kind)) return [unsupportedCause(path, kind, AFFINITIES)];
    return eachField(rules, at, (when, terms, place) => {
      if (when !== REQUIRED && when !== PREFERRED) return [unsupportedCause(at, when, [REQUIRED, PREFERRED])];
      if (kind === 'nodeAffinity') return when === REQUIRED ? nodeSelector(terms, place) : weighted(terms, place, 'preference', nodeTerm);
      return when === REQUIRED ? eachItem(terms, place, podTerm) : weighted(terms, place, 'podAffinityTerm', podTerm);
    });
  });
}

/** One of the terms must hold; without any nothing could. */
function nodeSelector(selector: unknown, path: string): StatusCause[] {
  if (!isObject(selector)) return [notAn('object', selector, path)];
  const { nodeSelectorTerms: terms } = selector;
  const at = `${path}.nodeSelectorTerms`;
  if (!Array.isArray(terms) || terms.length === 0) return [requiredCause(at, 'must have at least one node selector term')];
  return eachItem(terms, at, nodeTerm);
}

function nodeTerm(term: JsonObject, path: string): StatusCause[] {
  const { matchExpressions = [], matchFields = [] } = term;
  const expressions = eachItem(matchExpressions, `${path}.matchExpressions`, (each, at) => requirement(each, at, NODE_OPERATORS));
  const fields = eachItem(matchFields, `${path}.matchFields`, ({ key, operator, values }, at) => [
    ...(key === 'metadata.name' ? [] : [unsupportedCause(`${at}.key`, key, ['metadata.name'])]),
    ...(operator === 'In' || operator === 'NotIn' ? [] : [unsupportedCause(`${at}.operator`, operator, ['In', 'NotIn'])]),
    ...(Array.isArray(values) && values.length === 1 ? [] : [requiredCause(`${at}.values`, 'must be one name')]),
  ]);
  return [...expressions, ...fields];
}

function podTerm(term: JsonObject, path: string): StatusCause[] {
  const { topologyKey, labelSelector, namespaceSelector } = term;
  return [
    ...(typeof topologyKey === 'string' && topologyKey !== '' ? [] : [requiredCause(`${path}.topologyKey`, 'can not be empty')]),
    ...labels(labelSelector, `${path}.labelSelector`),
    ...labels(namespaceSelector, `${path}.namespaceSelector`),
  ];
}

function labels(selector: unknown, path: string): StatusCause[] {
  if (selector === undefined) return [];
  if (!isObject(selector)) return [notAn('object', selector, path)];
  return eachItem(selector['matchExpressions'] ?? [], `${path}.matchExpressions`, (each, at) => requirement(each, at, LABEL_OPERATORS));
}

/** What a key must be; how many values that takes follows from the operator. */
function requirement({ key, operator, values = [] }: JsonObject, path: string, operators: readonly string[]): StatusCause[] {
  const causes = typeof key === 'string' && key !== '' ? [] : [requiredCause(`${path}.key`)];
  if (!operators.includes(String(operator))) return [...causes, unsupportedCause(`${path}.operator`, operator, operators)];
  const at = `${path}.values`;
  if (!Array.isArray(values)) return [...causes, notAn('list', values, at)];
  if (operator === 'In' || operator === 'NotIn') {
    return values.length > 0 ? causes : [...causes, requiredCause(at, "must be specified when `operator` is 'In' or 'NotIn'")];
  }
  if (operator === 'Exists' || operator === 'DoesNotExist') {
    return values.length === 0
      ? causes
      : [...causes, invalidCause(at, values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
  }
  const isNumber = values.length === 1 && /^-?\d+$/.test(String(values[0]));
  return isNumber ? causes : [...causes, requiredCause(at, "must be one whole number when `operator` is 'Lt' or 'Gt'")];
}

type Check = (item: JsonObject, path: string) => StatusCause[];

function weighted(terms: unknown, path: string, name: string, check: Check): StatusCause[] {
  return eachItem(terms, path, (term, at) => {
    const { weight, [name]: inner } = term;
    const isWeight = Number.isInteger(weight) && Number(weight) >= 1 && Number(weight) <= 100;
    const causes = isWeight ? [] : [invalidCause(`${at}.weight`, weight, 'must be in the range 1-100')];
    return isObject(inner) ? [...causes, ...check(inner, `${at}.${name}`)] : [...causes, requiredCause(`${at}.${name}`)];
  });
}

function eachItem(items: unknown, path: string, check: Check): StatusCause[] {
  if (!Array.isArray(items)) return [notAn('list', items, path)];
  return items.flatMap((item, i) => (isObject(item) ? check(item, `${path}[${i}]`) : [notAn('object', item, `${path}[${i}]`)]));
}

function eachField(value: unknown, path: string, check: (name: string, value: unknown, path: string) => StatusCause[]): StatusCause[] {
  if (!isObject(value)) return [notAn('object', value, path)];
  return Object.entries(value).flatMap(([name, each]) => check(name, each, `${path}.${name}`));
}

function notAn(kind: 'object' | 'list', value: unknown, path: string): StatusCause {
  return invalidCause(path, value, kind === 'object' ? 'must be an object' : 'must be a list');
}
