/** The door on loopback: a link that works once lets one browser in, with the rights of one kubeconfig. */
import { cookieOf } from './decide-request.ts';
import type { Door } from './door.ts';
import { refusalResponse } from './page-headers.ts';
import type { Sessions } from './sessions.ts';

export function linkDoor(port: number, sessions: Sessions): Door {
  const hosts = ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`);
  return {
    entrance: 'link',
    hostRefusal: (host) => (hosts.includes(host) ? undefined : `this page is at http://127.0.0.1:${port}, not at ${host}`),
    isOwnOrigin: (origin, host) => origin === `http://${host}`,
    isInside: (headers) => sessions.has(cookieOf(headers, sessions.cookieName)),
    tokenOf: () => undefined,
    userOf: async () => ({}),
    refused: () => {},
    async answer(decision) {
      const session = decision.kind === 'enter' ? sessions.enter(decision.token) : undefined;
      if (session === undefined) return refusalResponse(403, 'this link was used, or is too old: virtctl ui and virtctl up make another');
      const cookie = `${sessions.cookieName}=${session}; HttpOnly; SameSite=Strict; Path=/`;
      return new Response(null, {
        status: 303,
        headers: { location: '/', 'set-cookie': cookie, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
      });
    },
  };
}
