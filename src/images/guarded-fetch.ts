/**
 * `fetch` for addresses that a stranger names: a registry its redirects and the place of its tokens, a tenant a disk. Where names lead is
 * looked at when the connection is made, so that no answer of a name server can change in between.
 *
 *   where it leads                            of a registry                          of a tenant
 *   loopback, link-local, this host (0.0.0.0) only for one that is itself there      no
 *   a private network, such as the cluster    yes                                    only for an address that is itself in one
 *   http                                      only to the loopback, as above         only for an address that has it itself
 *   another origin                            without the login                      without the login
 *   more than five redirects                  no                                     no
 */
import { lookup } from 'node:dns';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { UserError } from '../base/errors.ts';
import { bodyStream, webHeaders } from '../base/node/web-bridge.ts';

/** The part of `fetch` that talking to a registry needs. */
export type Fetch = (url: URL, init?: RequestInit) => Promise<Response>;

const MAX_REDIRECTS = 5;
const SILENCE_MS = 60_000;
const REDIRECTS = [301, 302, 303, 307, 308];
const WITHOUT_BODY = [204, 205, 304];

/** Why an address is not asked, and what to do about it. */
type Reason = { readonly why: string; readonly fix: string };

const THIS_MACHINE: Reason = { why: 'that is this machine or its own link', fix: 'use an address that leads to another machine' };
const PRIVATE_NETWORK: Reason = {
  why: 'it leads from outside into a private network, such as that of the cluster',
  fix: 'use an address within that network from the beginning',
};

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

const HERE = listOf(
  [
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
    ['0.0.0.0', 8],
  ],
  [
    ['::', 128],
    ['::1', 128],
    ['fe80::', 10],
  ],
);
const PRIVATE = listOf(
  [
    ['10.0.0.0', 8],
    ['172.16.0.0', 12],
    ['192.168.0.0', 16],
    ['100.64.0.0', 10],
  ],
  [
    ['fc00::', 7],
    ['fec0::', 10], // of a site, before there was fc00::/7
    ['64:ff9b:1::', 48], // a translator of the own network
  ],
);

type Networks = readonly (readonly [network: string, bits: number])[];

/** Addresses of IPv6 that only lead to one of IPv4 count as that: mapped and compatible ones, translated ones (NAT64) and those of 6to4. */
function listOf(ipv4: Networks, ipv6: Networks): BlockList {
  const list = new BlockList();
  for (const [network, bits] of ipv6) list.addSubnet(network, bits, 'ipv6');
  for (const [network, bits] of ipv4) {
    list.addSubnet(network, bits, 'ipv4');
    for (const prefix of ['::ffff:', '64:ff9b::', '64:ff9b:1::', '::']) list.addSubnet(`${prefix}${network}`, 96 + bits, 'ipv6');
    const [a = 0, b = 0, c = 0, d = 0] = network.split('.').map(Number);
    list.addSubnet(`2002:${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}::`, 16 + bits, 'ipv6');
  }
  return list;
}

/** True for an address or name that is the loopback by itself, without asking anybody. */
export function isLoopbackHost(hostname: string): boolean {
  const host = bare(hostname);
  return host === 'localhost' || isIn(LOOPBACK, host);
}

/** A `fetch` for everything that one registry leads to. */
export function guardedFetch(registry: string, lookUp: typeof lookup = lookup): Fetch {
  const { hostname } = new URL(registry);
  const mayBeHere = isLoopbackHost(hostname) || isIn(HERE, bare(hostname));
  const isHere = (addresses: readonly string[]) => addresses.some((each) => isIn(HERE, each));
  const whyNot = (addresses: readonly string[]) => (isHere(addresses) ? THIS_MACHINE : undefined);
  return following(() => ({
    assertAllowed: (url) => assertAllowed(url, mayBeHere),
    ...(!mayBeHere && { lookup: () => checkedLookup(lookUp, whyNot) }),
  }));
}

/** A `fetch` for the address of a tenant, by somebody who reaches more than the tenant does. */
export function tenantFetch(named: string, lookUp: typeof lookup = lookup): Fetch {
  return following(() => {
    const rules = tenantRules(named);
    return {
      assertAllowed: (url, hops) => rules.assertAllowed(url, hops),
      lookup: (hops) => checkedLookup(lookUp, (addresses) => rules.whyNot(addresses, hops)),
    };
  });
}

/** What holds for one request to the address and all that it leads to; `hops` is how many there were before. */
export function tenantRules(named: string) {
  const { protocol } = new URL(named);
  let mayBePrivate = false;
  return {
    whyNot(addresses: readonly string[], hops: number): Reason | undefined {
      if (addresses.some((each) => isIn(HERE, each))) return THIS_MACHINE;
      const isPrivate = addresses.some((each) => isIn(PRIVATE, each));
      if (hops === 0) mayBePrivate = isPrivate;
      return isPrivate && !mayBePrivate ? PRIVATE_NETWORK : undefined;
    },
    assertAllowed(url: URL, hops: number): void {
      const isWeb = url.protocol === 'https:' || (url.protocol === 'http:' && protocol === 'http:');
      if (!isWeb)
        throw refusal(url, { why: 'it is not https, as the address that leads there is', fix: 'use an address that leads to https' });
      const host = bare(url.hostname);
      const why = host === 'localhost' ? THIS_MACHINE : isIP(host) ? this.whyNot([host], hops) : undefined;
      if (why !== undefined) throw refusal(url, why);
    },
  };
}

/** What holds for one request and all its redirects; `hops` is how many there were before. */
type Rules = { readonly assertAllowed: (url: URL, hops: number) => void; readonly lookup?: (hops: number) => LookupFunction };

function following(rulesFor: () => Rules): Fetch {
  return async (start, init = {}) => {
    const rules = rulesFor();
    const headers = Object.fromEntries(new Headers(init.headers));
    let url = start;
    for (let hops = 0; ; hops++) {
      rules.assertAllowed(url, hops);
      const response = await exchange(url, {
        ...(rules.lookup && { lookup: rules.lookup(hops) }),
        headers,
        method: init.method ?? 'GET',
        ...(init.signal && { signal: init.signal }),
      });
      const location = response.headers.get('location');
      if (!REDIRECTS.includes(response.status) || location === null || !URL.canParse(location, url)) return named(response, url);
      await response.body?.cancel();
      if (hops === MAX_REDIRECTS)
        throw refusal(url, { why: `it leads on more than ${MAX_REDIRECTS} times`, fix: 'use the address where the file is' });
      const next = new URL(location, url);
      if (next.origin !== url.origin) delete headers['authorization'];
      url = next;
    }
  };
}

function exchange(url: URL, asked: RequestOptions): Promise<Response> {
  const options = { ...asked, agent: false };
  return new Promise((resolve, reject) => {
    const outgoing = url.protocol === 'https:' ? httpsRequest(url, options) : httpRequest(url, options);
    outgoing.setTimeout(SILENCE_MS, () => outgoing.destroy(new Error(`it was silent for ${SILENCE_MS / 1000} s`)));
    outgoing.on('response', (incoming) => resolve(webResponse(incoming)));
    outgoing.on('error', reject);
    outgoing.end();
  });
}

function webResponse(incoming: IncomingMessage): Response {
  const status = incoming.statusCode ?? 502;
  const init = { status, headers: webHeaders(incoming.rawHeaders) };
  if (!WITHOUT_BODY.includes(status))
    return new Response(
      bodyStream(incoming, () => incoming.destroy()),
      init,
    );
  incoming.resume();
  return new Response(null, init);
}

/** Whoever made a Response cannot say where it is from, other than so. */
function named(response: Response, url: URL): Response {
  return Object.defineProperty(response, 'url', { value: url.href });
}

function assertAllowed(url: URL, mayBeHere: boolean): void {
  const host = bare(url.hostname);
  const isHttpAllowed = mayBeHere && isLoopbackHost(host);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isHttpAllowed))
    throw refusal(url, { why: 'it is not https, which only a registry at the loopback may do without', fix: 'use an address with https' });
  if (!mayBeHere && (isLoopbackHost(host) || isIn(HERE, host))) throw refusal(url, THIS_MACHINE);
}

/** The system's answer, unless there is a reason against any of it. */
function checkedLookup(lookUp: typeof lookup, whyNot: (addresses: readonly string[]) => Reason | undefined): LookupFunction {
  return (hostname, options, callback) => {
    lookUp(hostname, options, (error, address, family) => {
      const found: readonly string[] = Array.isArray(address) ? address.map((each) => each.address) : [address];
      const why = error ? undefined : whyNot(found);
      if (why !== undefined) callback(refusal(new URL(`https://${hostname}`), why), '', 0);
      else callback(error, address, family);
    });
  };
}

function isIn(list: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/** Asking again changes nothing. */
function refusal(url: URL, reason: Reason): UserError {
  return new UserError('ADDRESS_REFUSED', `${url.origin} is not asked`, { ...reason, exitCode: 6 });
}
