/**
 * CEL as Kubernetes has it: the language of the library, and Kubernetes' own functions. Regular expressions are RE2, nothing else looks at
 * the patterns of users. Not here, and so refused where an expression is created: semver, loops over two variables, optMap and
 * optFlatMap, format, math, cel.block.
 */
import { Environment, EvaluationError, type Optional } from '@marcbachmann/cel-js';
import { RE2JS } from 're2js';
import { deepEqual } from '../../../base/json.ts';
import { Cidr, canonicalText, contains, Ip, isIn, masked, parseCidr, parseIp } from './address.ts';
import { deepSizeOf, type Meter } from './meter.ts';
import { isWhole, parseExactQuantity, Quantity, quantityOf, wholeOf } from './quantity.ts';

/** `matches` of the library is JavaScript's; expressions are made to call this instead. */
export const SAFE_MATCHES = 're2Matches';
const LIMITS = { maxAstNodes: 5_000, maxDepth: 100, maxListElements: 1_000, maxMapEntries: 1_000, maxCallArguments: 32 };
const MAX_PATTERN = 1_000;
/** Characters of a text times instructions of a pattern. */
const MATCHING_PER_UNIT = 10;
const MAX_PATTERNS = 200;
const COMPILING = 1_000;

type Value = unknown;
class Sets {}
class IpNamespace {}

export function kubernetesEnvironment(meter: Meter): Environment {
  const env = new Environment({
    unlistedVariablesAreDyn: false,
    enableOptionalTypes: true,
    homogeneousAggregateLiterals: false,
    limits: LIMITS,
  });
  const add = (signature: string, run: (...args: never[]) => Value) => env.registerFunction(signature, run, { async: false });
  env.registerOperator('optional == optional', (a: Optional, b: Optional) => sameOptional(a, b));
  addText(add, meter);
  addLists(env, add, meter);
  addQuantities(env, add);
  addAddresses(env, add);
  addUrls(env, add);
  return env;
}

type Add = (signature: string, run: (...args: never[]) => Value) => unknown;

function sameOptional(a: Optional, b: Optional): boolean {
  return a.hasValue() && b.hasValue() ? deepEqual(a.value(), b.value()) : a.hasValue() === b.hasValue();
}

function failed(message: string): EvaluationError {
  return new EvaluationError(message);
}

function addText(add: Add, meter: Meter): void {
  const patterns = new Map<string, RE2JS>();
  const compiled = (pattern: string): RE2JS => {
    const known = patterns.get(pattern);
    if (known) return known;
    meter.spend(COMPILING + pattern.length);
    if (pattern.length > MAX_PATTERN) throw failed(`a regular expression of more than ${MAX_PATTERN} characters`);
    if (patterns.size >= MAX_PATTERNS) patterns.clear();
    try {
      const made = RE2JS.compile(pattern);
      patterns.set(pattern, made);
      return made;
    } catch (error) {
      throw failed(error instanceof Error ? error.message : String(error)); // it says that it is about a regexp
    }
  };
  const matching = (text: string, pattern: RE2JS) => meter.spend(1 + (text.length * pattern.programSize()) / MATCHING_PER_UNIT);
  const found = (text: string, source: string, limit: number): string[] => {
    const pattern = compiled(source);
    const matcher = pattern.matcher(text);
    const all: string[] = [];
    while (limit < 0 || all.length < limit) {
      matching(text, pattern); // each search may look at all of the rest
      if (!matcher.find()) break;
      all.push(matcher.group() ?? '');
    }
    return all;
  };
  const matches = (text: string, source: string): boolean => {
    const pattern = compiled(source);
    matching(text, pattern);
    return pattern.matcher(text).find();
  };
  add(`string.${SAFE_MATCHES}(string): bool`, matches);
  add(`${SAFE_MATCHES}(string, string): bool`, matches);
  add('string.find(string): string', (text: string, pattern: string) => found(text, pattern, 1)[0] ?? '');
  add('string.findAll(string): list<string>', (text: string, pattern: string) => found(text, pattern, -1));
  add('string.findAll(string, int): list<string>', (text: string, pattern: string, limit: bigint) => found(text, pattern, Number(limit)));
  add('string.charAt(int): string', (text: string, at: bigint) => {
    const characters = [...text];
    if (at < 0n || at > characters.length) throw failed(`index out of range: ${at}`);
    return characters[Number(at)] ?? '';
  });
  add('string.replace(string, string): string', (text: string, from: string, to: string) =>
    replaced(meter, text, { from, to, limit: -1n }),
  );
  add('string.replace(string, string, int): string', (text: string, from: string, to: string, limit: bigint) =>
    replaced(meter, text, { from, to, limit }),
  );
  add('string.reverse(): string', (text: string) => {
    meter.spendText(text);
    return [...text].reverse().join('');
  });
}

function replaced(
  meter: Meter,
  text: string,
  { from, to, limit }: { readonly from: string; readonly to: string; readonly limit: bigint },
): string {
  const parts = text.split(from);
  const count = limit < 0n ? parts.length - 1 : Math.min(Number(limit), parts.length - 1);
  meter.spend(1 + (text.length + count * to.length) / 10 + parts.length);
  return (
    parts.slice(0, count + 1).join(to) +
    parts
      .slice(count + 1)
      .map((part) => from + part)
      .join('')
  );
}

function addLists(env: Environment, add: Add, meter: Meter): void {
  const extreme = (name: string, isBetter: (a: never, b: never) => boolean) =>
    add(`list.${name}(): dyn`, (list: readonly never[]) => {
      meter.spend(list.length);
      const [first, ...rest] = list;
      if (first === undefined) throw failed(`${name} called on empty list`);
      return rest.reduce((best, each) => (isBetter(each, best) ? each : best), first);
    });
  extreme('min', (a, b) => a < b);
  extreme('max', (a, b) => a > b);
  add('list.sum(): dyn', (list: readonly (bigint & number)[]) => {
    meter.spend(list.length);
    const [first, ...rest] = list;
    return first === undefined ? 0n : rest.reduce<Value>((sum, each) => (sum as bigint) + each, first);
  });
  add('list.isSorted(): bool', (list: readonly never[]) => {
    meter.spend(list.length);
    return list.every((each, index) => index === 0 || (list[index - 1] as never) <= each);
  });
  const place = (list: readonly Value[], wanted: Value) => list.findIndex((each) => deepEqual(each, wanted));
  add('list.indexOf(dyn): int', (list: readonly Value[], wanted: Value) => {
    meter.spend(list.length);
    return BigInt(place(list, wanted));
  });
  add('list.lastIndexOf(dyn): int', (list: readonly Value[], wanted: Value) => {
    meter.spend(list.length);
    return BigInt(list.findLastIndex((each) => deepEqual(each, wanted)));
  });
  env.registerType('kubernetes.Sets', Sets).registerConstant('sets', 'kubernetes.Sets', new Sets());
  const holds = (all: readonly Value[], some: readonly Value[]) => {
    meter.spend(1 + deepSizeOf(all) * some.length);
    return some.every((each) => place(all, each) >= 0);
  };
  add('kubernetes.Sets.contains(list, list): bool', (_: Sets, a: readonly Value[], b: readonly Value[]) => holds(a, b));
  add('kubernetes.Sets.equivalent(list, list): bool', (_: Sets, a: readonly Value[], b: readonly Value[]) => holds(a, b) && holds(b, a));
  add('kubernetes.Sets.intersects(list, list): bool', (_: Sets, a: readonly Value[], b: readonly Value[]) => {
    meter.spend(1 + deepSizeOf(a) * b.length);
    return b.some((each) => place(a, each) >= 0);
  });
}

function addQuantities(env: Environment, add: Add): void {
  const type = 'kubernetes.Quantity';
  env.registerType(type, Quantity);
  const order = (a: Quantity, b: Quantity) => (a.nanos === b.nanos ? 0n : a.nanos < b.nanos ? -1n : 1n);
  add(`quantity(string): ${type}`, (text: string) => {
    const made = parseExactQuantity(text);
    if (!made) throw failed('quantities must match the regular expression for quantities');
    return made;
  });
  add('isQuantity(string): bool', (text: string) => parseExactQuantity(text) !== undefined);
  add(`${type}.isInteger(): bool`, isWhole);
  add(`${type}.asInteger(): int`, (each: Quantity) => {
    if (!isWhole(each)) throw failed('cannot convert value to integer');
    return wholeOf(each);
  });
  add(`${type}.asApproximateFloat(): double`, ({ nanos }: Quantity) => Number(nanos) / 1e9);
  add(`${type}.sign(): int`, ({ nanos }: Quantity) => (nanos === 0n ? 0n : nanos < 0n ? -1n : 1n));
  add(`${type}.add(${type}): ${type}`, (a: Quantity, b: Quantity) => new Quantity(a.nanos + b.nanos));
  add(`${type}.add(int): ${type}`, (a: Quantity, b: bigint) => new Quantity(a.nanos + quantityOf(b).nanos));
  add(`${type}.sub(${type}): ${type}`, (a: Quantity, b: Quantity) => new Quantity(a.nanos - b.nanos));
  add(`${type}.sub(int): ${type}`, (a: Quantity, b: bigint) => new Quantity(a.nanos - quantityOf(b).nanos));
  add(`${type}.compareTo(${type}): int`, order);
  add(`${type}.isLessThan(${type}): bool`, (a: Quantity, b: Quantity) => order(a, b) < 0n);
  add(`${type}.isGreaterThan(${type}): bool`, (a: Quantity, b: Quantity) => order(a, b) > 0n);
  env.registerOperator(`${type} == ${type}`, (a: Quantity, b: Quantity) => order(a, b) === 0n);
}

function addAddresses(env: Environment, add: Add): void {
  const [ip, cidr] = ['net.IP', 'net.CIDR'];
  env.registerType(ip, Ip).registerType(cidr, Cidr);
  const parsed = (text: string) => {
    const made = parseIp(text);
    if (!made) throw failed(`IP Address ${JSON.stringify(text)} parse error during conversion from string`);
    return made;
  };
  const range = (text: string) => {
    const made = parseCidr(text);
    if (!made) throw failed(`network address parse error during conversion from string: ${JSON.stringify(text)}`);
    return made;
  };
  add(`ip(string): ${ip}`, parsed);
  add('isIP(string): bool', (text: string) => parseIp(text) !== undefined);
  add(`${ip}.family(): int`, ({ family }: Ip) => BigInt(family));
  add(`${ip}.isUnspecified(): bool`, (each: Ip) => isIn(each, 'unspecified'));
  add(`${ip}.isLoopback(): bool`, (each: Ip) => isIn(each, 'loopback'));
  add(`${ip}.isLinkLocalMulticast(): bool`, (each: Ip) => isIn(each, 'linkLocalMulticast'));
  add(`${ip}.isLinkLocalUnicast(): bool`, (each: Ip) => isIn(each, 'linkLocal'));
  add(`${ip}.isGlobalUnicast(): bool`, (each: Ip) =>
    (['unspecified', 'loopback', 'linkLocal', 'multicast', 'broadcast'] as const).every((name) => !isIn(each, name)),
  );
  add(`string(${ip}): string`, canonicalText);
  env.registerOperator(`${ip} == ${ip}`, (a: Ip, b: Ip) => a.family === b.family && a.value === b.value);
  env.registerType('net.IPNamespace', IpNamespace);
  add(`cidr(string): ${cidr}`, range);
  add('isCIDR(string): bool', (text: string) => parseCidr(text) !== undefined);
  add(`${cidr}.containsIP(string): bool`, (a: Cidr, text: string) => contains(a, parsed(text)));
  add(`${cidr}.containsIP(${ip}): bool`, contains);
  const within = (a: Cidr, b: Cidr) => a.prefix <= b.prefix && contains(a, b.ip);
  add(`${cidr}.containsCIDR(string): bool`, (a: Cidr, text: string) => within(a, range(text)));
  add(`${cidr}.containsCIDR(${cidr}): bool`, within);
  add(`${cidr}.ip(): ${ip}`, (each: Cidr) => each.ip);
  add(`${cidr}.masked(): ${cidr}`, masked);
  add(`${cidr}.prefixLength(): int`, ({ prefix }: Cidr) => BigInt(prefix));
  add(`string(${cidr}): string`, ({ ip: each, prefix }: Cidr) => `${canonicalText(each)}/${prefix}`);
  env.registerOperator(`${cidr} == ${cidr}`, (a: Cidr, b: Cidr) => a.prefix === b.prefix && a.ip.value === b.ip.value);
}

function addUrls(env: Environment, add: Add): void {
  const type = 'kubernetes.URL';
  env.registerType(type, URL);
  const parsed = (text: string) => (text.length > 2_048 ? undefined : (URL.parse(text) ?? undefined));
  add(`url(string): ${type}`, (text: string) => {
    const made = parsed(text);
    if (!made) throw failed(`URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`);
    return made;
  });
  add('isURL(string): bool', (text: string) => parsed(text) !== undefined);
  add(`${type}.getScheme(): string`, ({ protocol }: URL) => protocol.slice(0, -1));
  add(`${type}.getHost(): string`, ({ host }: URL) => host);
  add(`${type}.getHostname(): string`, ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, ''));
  add(`${type}.getPort(): string`, ({ port }: URL) => port);
  add(`${type}.getEscapedPath(): string`, ({ pathname }: URL) => pathname);
  add(`${type}.getQuery(): map<string, list<string>>`, ({ searchParams }: URL) => {
    const query: Record<string, string[]> = Object.create(null);
    for (const [key, value] of searchParams) query[key] = [...(query[key] ?? []), value];
    return { ...query };
  });
}
