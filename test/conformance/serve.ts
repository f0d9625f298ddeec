/** The embedded control plane without nodes: API server over TLS, admission, aggregation, and the controllers every cluster has. */
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { ensurePki, type Pki } from '../../src/base/node/pki.ts';
import { ensureSigningKey } from '../../src/base/node/signing-key.ts';
import { startApi } from '../../src/cmd/embedded/start-api.ts';
import { listen } from '../../src/control-plane/apiserver/transport/listen.ts';
import { runGarbageCollector } from '../../src/control-plane/garbage-collector/controller.ts';
import { runDefaultServiceAccounts, runRoleAggregation, runRootCaPublisher } from '../../src/control-plane/service-accounts/run.ts';
import type { Store } from '../../src/control-plane/store/store.ts';
import { runWorkloads, WORKLOAD_READER } from '../../src/control-plane/workloads/run.ts';

export type Served = { readonly port: number; readonly pki: Pki; stop(): Promise<void> };

export type Around = (request: Request, answer: (request: Request) => Promise<Response>) => Promise<Response>;
export type ServeOptions = {
  readonly store: Store;
  /** For certificates and keys. */
  readonly folder: string;
  readonly port: number;
  /** Stands between TLS and the server. */
  readonly around?: Around;
  /** Is told of connections that want to leave HTTP. */
  readonly onUpgrade?: (request: IncomingMessage) => void;
};

/** Serves the data of the store; `stop` leaves the store open. */
export async function serve(options: ServeOptions): Promise<Served> {
  const { store, folder, port, around = (request, answer) => answer(request), onUpgrade } = options;
  const pki = await ensurePki(join(folder, 'pki'), systemClock);
  const signingKey = await ensureSigningKey(join(folder, 'pki'));
  const api = await startApi({ store, pki, signingKey, clock: systemClock, log: silentLogger });
  const { reviewToken } = api;
  const upgrade: typeof api.upgrade = (request, ...rest) => {
    onUpgrade?.(request);
    return api.upgrade(request, ...rest);
  };
  const handle: typeof api.handle = (request, identity) => around(request, (each) => api.handle(each, identity));
  const web = await listen({ handle, upgrade, reviewToken, pki, port, log: silentLogger });
  const ending = new AbortController();
  const asUser = (user: string, groups: readonly string[]) => ({
    client: api.clientAs(user, groups),
    clock: systemClock,
    log: silentLogger,
    signal: ending.signal,
  });
  const as = (account: string) => asUser(`system:serviceaccount:kube-system:${account}`, ['system:serviceaccounts']);
  const controllers = Promise.all([
    runGarbageCollector(as('generic-garbage-collector')),
    runDefaultServiceAccounts(as('service-account-controller')),
    runRootCaPublisher({ ...as('root-ca-cert-publisher'), ca: pki.ca }),
    runRoleAggregation(as('clusterrole-aggregation-controller')),
    runWorkloads({ reader: asUser(WORKLOAD_READER, []), as }),
  ]);
  return {
    port: web.port,
    pki,
    async stop() {
      ending.abort();
      await controllers;
      api.close();
      await web.close();
    },
  };
}
