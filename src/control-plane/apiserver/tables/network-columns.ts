/** The columns of what lets traffic in. */
import { isObject, type JsonObject } from '../../../base/json.ts';
import { AGE, at, type Column, joined, listAt, NAME, orNone, text, textAt } from './column.ts';

const MOST_HOSTS = 3;
const OPERATORS: Readonly<Record<string, (key: string, values: string) => string>> = {
  In: (key, values) => `${key} in (${values})`,
  NotIn: (key, values) => `${key} notin (${values})`,
  Exists: (key) => key,
  DoesNotExist: (key) => `!${key}`,
};

export const NETWORK_COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  'networking.k8s.io/Ingress': [
    NAME,
    text('Class', (ingress) => orNone(textAt(ingress, 'spec', 'ingressClassName'))),
    text('Hosts', hosts),
    text('Address', (ingress) =>
      listAt(ingress, 'status', 'loadBalancer', 'ingress')
        .map((entry) => textAt(entry, 'ip') || textAt(entry, 'hostname'))
        .filter((address) => address !== '')
        .join(','),
    ),
    text('Ports', (ingress) => (listAt(ingress, 'spec', 'tls').length > 0 ? '80, 443' : '80')),
    AGE,
  ],
  'networking.k8s.io/IngressClass': [
    NAME,
    text('Controller', (object) => textAt(object, 'spec', 'controller')),
    text('Parameters', ingressParameters),
    AGE,
  ],
  'networking.k8s.io/NetworkPolicy': [NAME, text('Pod-Selector', (policy) => selectorText(at(policy, 'spec', 'podSelector'))), AGE],
};

function hosts(ingress: JsonObject): string {
  const all = listAt(ingress, 'spec', 'rules').flatMap((rule) => textAt(rule, 'host') || []);
  if (all.length === 0) return '*';
  const shown = all.slice(0, MOST_HOSTS).join(',');
  return all.length > MOST_HOSTS ? `${shown} + ${all.length - MOST_HOSTS} more...` : shown;
}

function ingressParameters(object: JsonObject): string {
  const parameters = at(object, 'spec', 'parameters');
  if (!isObject(parameters)) return '<none>';
  const group = textAt(parameters, 'apiGroup');
  return `${textAt(parameters, 'kind')}${group && `.${group}`}/${textAt(parameters, 'name')}`;
}

/** As selectors are written on a command line: `app=web,tier in (a,b),!old`. */
export function selectorText(selector: unknown): string {
  const labels = at(selector, 'matchLabels');
  const equal = isObject(labels) ? Object.entries(labels).map(([key, value]) => [key, `${key}=${String(value)}`] as const) : [];
  const others = listAt(selector, 'matchExpressions').map((each) => {
    const values = Array.isArray(each['values']) ? each['values'].map(String).sort().join(',') : '';
    return [textAt(each, 'key'), OPERATORS[textAt(each, 'operator')]?.(textAt(each, 'key'), values) ?? '<error>'] as const;
  });
  const byKey = ([a]: readonly [string, string], [b]: readonly [string, string]) => (a < b ? -1 : a > b ? 1 : 0);
  return joined([...equal, ...others].sort(byKey).map(([, said]) => said));
}
