/** What the Pod is given as written: its resolver, its account and its spread, as far as an API server would refuse the Pod for it. */
import { isIP } from 'node:net';
import type { VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { accountsOf } from '../../../api/kubevirt/volumes/source-of.ts';
import { invalidCause, requiredCause, tooManyCause, typeCause, unsupportedCause } from '../../../base/causes.ts';
import { subdomainCauses } from '../../../base/dns-name-causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { isObject } from '../../../base/json.ts';

const DNS_KEYS = ['nameservers', 'searches', 'options'] as const;
/** Of a Pod. */
const MOST_OF_DNS = { nameservers: 3, searches: 32, options: 64 } as const;
const MOST_SPREADS = 64;
const OTHERWISE = ['DoNotSchedule', 'ScheduleAnyway'];

export function validatePodFields(spec: VmiSpec, path: string): StatusCause[] {
  const { serviceAccountName, dnsPolicy, dnsConfig, topologySpreadConstraints = [] } = spec;
  const causes = [...subdomainCauses(`${path}.serviceAccountName`, serviceAccountName || undefined)];
  const accounts = accountsOf(spec);
  if (accounts.length > 1)
    causes.push(invalidCause(`${path}.serviceAccountName`, accounts.join(', '), 'a Pod runs as one account, also for its volumes'));
  if (dnsPolicy === 'None' && !hasNameServer(dnsConfig))
    causes.push(requiredCause(`${path}.dnsConfig.nameservers`, 'the policy None brings none, so there must be one'));
  if (dnsConfig !== undefined) causes.push(...dnsCauses(dnsConfig, `${path}.dnsConfig`));
  const at = `${path}.topologySpreadConstraints`;
  if (topologySpreadConstraints.length > MOST_SPREADS) return [...causes, tooManyCause(at, topologySpreadConstraints.length, MOST_SPREADS)];
  for (const [index, spread] of topologySpreadConstraints.entries()) causes.push(...spreadCauses(spread, `${at}[${index}]`));
  return causes;
}

function hasNameServer(config: unknown): boolean {
  return isObject(config) && Array.isArray(config['nameservers']) && config['nameservers'].length > 0;
}

function dnsCauses(config: unknown, at: string): StatusCause[] {
  if (!isObject(config)) return [typeCause(at, config, 'must be an object')];
  const causes = Object.keys(config)
    .filter((key) => !DNS_KEYS.some((known) => known === key))
    .map((key) => unsupportedCause(`${at}.${key.slice(0, 64)}`, key.slice(0, 64), DNS_KEYS));
  for (const key of DNS_KEYS) {
    const values = config[key] ?? [];
    if (!Array.isArray(values)) causes.push(typeCause(`${at}.${key}`, values, 'must be a list'));
    else if (values.length > MOST_OF_DNS[key]) causes.push(tooManyCause(`${at}.${key}`, values.length, MOST_OF_DNS[key]));
    else causes.push(...values.flatMap((value, index) => DNS_CHECKS[key](value, `${at}.${key}[${index}]`)));
  }
  return causes;
}

const DNS_CHECKS: { readonly [Key in (typeof DNS_KEYS)[number]]: (value: unknown, at: string) => StatusCause[] } = {
  nameservers: (value, at) => (typeof value === 'string' && isIP(value) !== 0 ? [] : [invalidCause(at, value, 'must be an IP address')]),
  searches: (value, at) =>
    typeof value === 'string' && value !== ''
      ? subdomainCauses(at, value === '.' ? undefined : value.replace(/\.$/, ''))
      : [invalidCause(at, value, 'must be a domain')],
  options: (value, at) =>
    isObject(value) && typeof value['name'] === 'string' && value['name'] !== '' ? [] : [requiredCause(`${at}.name`, 'the option')],
};

function spreadCauses(spread: unknown, at: string): StatusCause[] {
  if (!isObject(spread)) return [typeCause(at, spread, 'must be an object')];
  const { maxSkew, topologyKey, whenUnsatisfiable } = spread;
  const causes: StatusCause[] = [];
  if (!Number.isInteger(maxSkew) || Number(maxSkew) < 1)
    causes.push(invalidCause(`${at}.maxSkew`, maxSkew, 'must be a number of 1 or more'));
  if (typeof topologyKey !== 'string' || topologyKey === '')
    causes.push(requiredCause(`${at}.topologyKey`, 'the label of nodes by which they are told apart'));
  if (!OTHERWISE.includes(String(whenUnsatisfiable)))
    causes.push(unsupportedCause(`${at}.whenUnsatisfiable`, whenUnsatisfiable, OTHERWISE));
  return causes;
}
