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
import { bodyStream, webHeaders } from '../base/node/web-bridge.ts';

/** The part of `fetch` that talking to a registry needs. */
export type Fetch = (url: URL, init?: RequestInit) => Promise<Response>;

const MAX_REDIRECTS = 5;
const SILENCE_MS = 60_000;
const REDIRECTS = [301, 302, 303, 307, 308];
const WITHOUT_BODY = [204, 205, 304];

const THIS_MACHINE = 'that is this machine or its own link';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');
const HERE = new BlockList();
HERE.addSubnet('127.0.0.0', 8, 'ipv4');
HERE.addSubnet('169.254.0.0', 16, 'ipv4');
HERE.addSubnet('0.0.0.0', 8, 'ipv4');
HERE.addAddress('::1', 'ipv6');
HERE.addAddress('::', 'ipv6');
HERE.addSubnet('fe80::', 10, 'ipv6');
HERE.addSubnet('::ffff:127.0.0.0', 104, 'ipv6');
HERE.addSubnet('::ffff:169.254.0.0', 112, 'ipv6');
HERE.addSubnet('::ffff:0.0.0.0', 104, 'ipv6');

const PRIVATE = new BlockList();
for (const [network, bits] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
] as const) {
  PRIVATE.addSubnet(network, bits, 'ipv4');
  PRIVATE.addSubnet(`::ffff:${network}`, 96 + bits, 'ipv6');
}
PRIVATE.addSubnet('fc00::', 7, 'ipv6');

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
    whyNot(addresses: readonly string[], hops: number): string | undefined {
      if (addresses.some((each) => isIn(HERE, each))) return THIS_MACHINE;
      const isPrivate = addresses.some((each) => isIn(PRIVATE, each));
      if (hops === 0) mayBePrivate = isPrivate;
      return isPrivate && !mayBePrivate ? 'it leads from outside into a private network, such as that of the cluster' : undefined;
    },
    assertAllowed(url: URL, hops: number): void {
      const isWeb = url.protocol === 'https:' || (url.protocol === 'http:' && protocol === 'http:');
      if (!isWeb) throw refusal(url, 'it is not https, as the address that leads there is');
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
      if (hops === MAX_REDIRECTS) throw refusal(url, `it leads on more than ${MAX_REDIRECTS} times`);
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
    throw refusal(url, 'it is not https, which only a registry at the loopback may do without');
  if (!mayBeHere && (isLoopbackHost(host) || isIn(HERE, host))) throw refusal(url, THIS_MACHINE);
}

/** The system's answer, unless there is a reason against any of it. */
function checkedLookup(lookUp: typeof lookup, whyNot: (addresses: readonly string[]) => string | undefined): LookupFunction {
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

function refusal(url: URL, why: string): Error {
  return new Error(`${url.origin} is not asked: ${why}`);
}
