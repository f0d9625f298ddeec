/** A real API server on a temporary store, for tests that want the real thing. */

import { type Clock, systemClock } from '../../base/clock.ts';
import { type Logger, silentLogger } from '../../base/log.ts';
import { type Client, createClient } from '../../client/client.ts';
import { SharedObjects } from '../../client/shared-objects.ts';
import type { Store } from '../store/store.ts';
import { temporaryStore } from '../store/temporary-store.testing.ts';
import { type ApiServer, createApiServer } from './create-api-server.ts';
import type { Shares } from './quota/namespace-shares.ts';
import type { Hooks, Identity } from './server-parts.ts';

export type TestServer = {
  /** As an administrator. */
  readonly client: Client;
  readonly server: ApiServer;
  readonly store: Store;
  /** As somebody else. */
  clientAs(user: string, groups?: readonly string[]): Client;
  /** The bare answer to a request as an administrator (or as `identity`), failures included. */
  fetch(path: string, init?: RequestInit, identity?: Identity): Promise<Response>;
  close(): void;
};

const ADMIN: Identity = { user: 'admin', groups: ['system:masters', 'system:authenticated'] };
const BASE_URL = 'https://kubernetes.default.svc';

type TestServerOptions = {
  readonly clock?: Clock;
  readonly log?: Logger;
  readonly hooks?: Hooks;
  readonly historySize?: number;
  /** With one, service accounts have tokens. */
  readonly signingKey?: string;
  readonly shares?: Shares;
};

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { store, close } = temporaryStore({ historySize: options.historySize });
  const server = await createApiServer({
    store,
    clock: options.clock ?? systemClock,
    log: options.log ?? silentLogger,
    hooks: options.hooks,
    signingKey: options.signingKey,
    shares: options.shares,
  });
  const shared = new SharedObjects();
  const clientFor = (identity: Identity) =>
    createClient({ fetch: (request) => server.handle(request, identity), baseUrl: BASE_URL, userAgent: 'test', shared });
  return {
    client: clientFor(ADMIN),
    server,
    store,
    clientAs: (user, groups = []) => clientFor({ user, groups: [...groups, 'system:authenticated'] }),
    fetch: (path, init, identity = ADMIN) => server.handle(new Request(new URL(path, BASE_URL), init), identity),
    close() {
      server.close();
      close();
    },
  };
}
