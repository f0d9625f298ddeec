/**
 * What a request of a browser may have.
 *
 *   host       only a name of this machine's loopback with our port: another one is a site that had its name point here (DNS rebinding)
 *   origin     whatever changes something, and every WebSocket, must come from our own page
 *   /enter     a link that works once; all else needs the session that it gave
 *   API        never as a document of its own, and never what some Pod or Service serves (`proxy`): that would be a stranger's page here
 *   the rest   the page
 *
 * Pure.
 */
export type UiRequest = {
  readonly method: string;
  /** With the query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly isUpgrade: boolean;
};

export type UiServerView = {
  readonly port: number;
  isSession(cookie: string): boolean;
};

export type UiDecision =
  | { readonly kind: 'refuse'; readonly status: number; readonly message: string }
  | { readonly kind: 'enter'; readonly token: string }
  | { readonly kind: 'page'; readonly path: string }
  | { readonly kind: 'api'; readonly path: string }
  | { readonly kind: 'watch'; readonly path: string }
  | { readonly kind: 'tunnel'; readonly path: string };

const API = /^\/(api|apis|openapi|version)(\/|\?|$)/;
const READS = new Set(['GET', 'HEAD']);

export function cookieName(port: number): string {
  return `kubevirt-ts-${port}`; // browsers send cookies to every port of a host
}

export function decideRequest(request: UiRequest, server: UiServerView): UiDecision {
  const { method, url, headers, isUpgrade } = request;
  const host = textOf(headers['host']);
  if (!hostsOf(server.port).includes(host)) return refuse(421, `this page is at http://127.0.0.1:${server.port}, not at ${host}`);
  const needsOrigin = isUpgrade || !READS.has(method);
  if (needsOrigin && textOf(headers['origin']) !== `http://${host}`) return refuse(403, 'only our own page may ask for this');
  const { pathname, searchParams } = new URL(url, 'http://page');
  if (pathname === '/enter' && method === 'GET' && !isUpgrade) return { kind: 'enter', token: searchParams.get('token') ?? '' };
  if (!server.isSession(cookieOf(textOf(headers['cookie']), cookieName(server.port)))) {
    return refuse(401, 'this needs a link of its own: run virtctl ui');
  }
  if (!API.test(url)) return isUpgrade || !READS.has(method) ? refuse(404, 'there is nothing here') : { kind: 'page', path: pathname };
  if (isServedByOthers(pathname)) return refuse(403, 'what Pods and Services serve is not shown here; use virtctl port-forward');
  if (textOf(headers['sec-fetch-dest']) === 'document') return refuse(403, 'answers of the API are no pages');
  if (!isUpgrade) return { kind: 'api', path: url };
  return searchParams.get('watch') === 'true' ? { kind: 'watch', path: url } : { kind: 'tunnel', path: url };
}

function hostsOf(port: number): readonly string[] {
  return ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`);
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

function cookieOf(header: string, name: string): string {
  const pair = header.split(/;\s*/).find((each) => each.startsWith(`${name}=`));
  return pair?.slice(name.length + 1) ?? '';
}

function textOf(value: string | readonly string[] | undefined): string {
  return typeof value === 'string' ? value : '';
}

function refuse(status: number, message: string): UiDecision {
  return { kind: 'refuse', status, message };
}
