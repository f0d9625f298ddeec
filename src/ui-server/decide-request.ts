/**
 * What a request of a browser may have.
 *
 *   host       only a name that is ours: on loopback another one is a site that had its name point here (DNS rebinding)
 *   origin     whatever changes something, and every WebSocket, must come from our own page
 *   door       a link that works once, or a token of the cluster's; all else needs the session that it gave
 *   API        never as a document of its own, and never what some Pod or Service serves (`proxy`): that would be a stranger's page here
 *   the rest   the page
 *
 * Pure.
 */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export type UiRequest = {
  readonly method: string;
  /** With the query. */
  readonly url: string;
  readonly headers: RequestHeaders;
  readonly isUpgrade: boolean;
};

/** What is asked at the door, before one is in or to leave. */
export type DoorDecision =
  | { readonly kind: 'enter'; readonly token: string }
  | { readonly kind: 'sign-in-page' }
  | { readonly kind: 'sign-in' }
  | { readonly kind: 'sign-out' };

export type UiDecision =
  | DoorDecision
  | { readonly kind: 'refuse'; readonly status: number; readonly message: string }
  | { readonly kind: 'page'; readonly path: string }
  | { readonly kind: 'api'; readonly path: string }
  | { readonly kind: 'watch'; readonly path: string }
  | { readonly kind: 'tunnel'; readonly path: string };

export type DoorRules = {
  /** How one comes in: by a link that somebody printed, or by signing in with a token. */
  readonly entrance: 'link' | 'token';
  /** Why a request to this host is not for us; undefined when it is. */
  hostRefusal(host: string): string | undefined;
  isOwnOrigin(origin: string, host: string): boolean;
  isInside(headers: RequestHeaders): boolean;
};

/** Where the page asks who is inside. */
export const SESSION_PATH = '/session.json';
const API = /^\/(api|apis|openapi|version)(\/|\?|$)/;
const READS = new Set(['GET', 'HEAD']);

export function decideRequest(request: UiRequest, door: DoorRules): UiDecision {
  const { method, url, headers, isUpgrade } = request;
  const host = textOf(headers['host']);
  const notHere = door.hostRefusal(host);
  if (notHere !== undefined) return refuse(421, notHere);
  const changes = isUpgrade || !READS.has(method);
  if (changes && !door.isOwnOrigin(textOf(headers['origin']), host)) return refuse(403, 'only our own page may ask for this');
  const { pathname, searchParams } = new URL(url, 'http://page');
  const atDoor = decideAtDoor({ pathname, searchParams, method, isUpgrade }, door);
  if (atDoor) return atDoor;
  const isApi = API.test(url);
  if (!door.isInside(headers)) return decideOutside(isApi || changes || pathname === SESSION_PATH, door);
  if (!isApi) return changes ? refuse(404, 'there is nothing here') : { kind: 'page', path: pathname };
  if (isServedByOthers(pathname)) return refuse(403, 'what Pods and Services serve is not shown here; use virtctl port-forward');
  if (textOf(headers['sec-fetch-dest']) === 'document') return refuse(403, 'answers of the API are no pages');
  if (!isUpgrade) return { kind: 'api', path: url };
  return searchParams.get('watch') === 'true' ? { kind: 'watch', path: url } : { kind: 'tunnel', path: url };
}

type AtDoor = Pick<URL, 'pathname' | 'searchParams'> & Pick<UiRequest, 'method' | 'isUpgrade'>;

function decideAtDoor({ pathname, searchParams, method, isUpgrade }: AtDoor, { entrance }: DoorRules): DoorDecision | undefined {
  if (isUpgrade) return undefined;
  if (entrance === 'link')
    return pathname === '/enter' && method === 'GET' ? { kind: 'enter', token: searchParams.get('token') ?? '' } : undefined;
  if (pathname === '/sign-in') return { kind: method === 'POST' ? 'sign-in' : 'sign-in-page' };
  return pathname === '/sign-out' && method === 'POST' ? { kind: 'sign-out' } : undefined;
}

function decideOutside(isForPrograms: boolean, { entrance }: DoorRules): UiDecision {
  if (entrance === 'link') return refuse(401, 'this needs a link of its own: run virtctl ui');
  return isForPrograms ? refuse(401, 'nobody is signed in') : { kind: 'sign-in-page' };
}

/** `/api/v1/namespaces/NS/services/NAME/proxy/…`, however it is written. */
function isServedByOthers(pathname: string): boolean {
  return pathname.split('/').some((part) => /^proxy$/i.test(decoded(part)));
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return 'proxy'; // nothing that we ask for has such a name
  }
}

/** A cookie of the header of this name; empty when it has none. */
export function cookieOf(headers: RequestHeaders, name: string): string {
  const pair = textOf(headers['cookie'])
    .split(/;\s*/)
    .find((each) => each.startsWith(`${name}=`));
  return pair?.slice(name.length + 1) ?? '';
}

/** A header that came once; empty when it did not. */
export function textOf(value: RequestHeaders[string]): string {
  return typeof value === 'string' ? value : '';
}

function refuse(status: number, message: string): UiDecision {
  return { kind: 'refuse', status, message };
}
