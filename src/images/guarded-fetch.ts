/**
 * `fetch` for what a registry says: its redirects and the place of its tokens are a stranger's words. Where names lead is looked at when the
 * connection is made, so that no answer of a name server can change in between.
 *
 *   where it leads                            allowed
 *   loopback, link-local, this host (0.0.0.0) only for a registry that is itself there
 *   http                                      only to the loopback, for a registry that is itself there
 *   another origin                            without the login
 *   more than five redirects                  no
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

/** True for an address or name that is the loopback by itself, without asking anybody. */
export function isLoopbackHost(hostname: string): boolean {
  const host = bare(hostname);
  return host === 'localhost' || isIn(LOOPBACK, host);
}

/** A `fetch` for everything that one registry leads to. */
export function guardedFetch(registry: string, lookUp: typeof lookup = lookup): Fetch {
  const { hostname } = new URL(registry);
  const mayBeHere = isLoopbackHost(hostname) || isIn(HERE, bare(hostname));
  const options = mayBeHere ? {} : { lookup: elsewhereOnly(lookUp) };
  return async (start, init = {}) => {
    const headers = Object.fromEntries(new Headers(init.headers));
    let url = start;
    for (let hops = 0; ; hops++) {
      assertAllowed(url, mayBeHere);
      const response = await exchange(url, {
        ...options,
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
  if (!mayBeHere && (isLoopbackHost(host) || isIn(HERE, host))) throw refusal(url, 'that is this machine or its own link');
}

/** The system's answer, unless any of it is this machine or its link. */
function elsewhereOnly(lookUp: typeof lookup): LookupFunction {
  return (hostname, options, callback) => {
    lookUp(hostname, options, (error, address, family) => {
      const found: readonly string[] = Array.isArray(address) ? address.map((each) => each.address) : [address];
      const isHere = !error && found.some((each) => isIn(HERE, each));
      if (isHere) callback(refusal(new URL(`https://${hostname}`), 'its name leads to this machine or its own link'), '', 0);
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
