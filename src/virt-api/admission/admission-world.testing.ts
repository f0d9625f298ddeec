/** The real API server with our definitions, webhooks and aggregated APIs, in memory, and the real virt-api behind them over TLS. */
import { readdirSync, readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { userNameOf } from '../../api/kubevirt/component-accounts.ts';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { createClient } from '../../client/client.ts';
import { createAdmission } from '../../control-plane/apiserver/admission/create-admission.ts';
import { type ApiService, createServiceProxy } from '../../control-plane/apiserver/aggregation/service-proxy.ts';
import { createApiServer } from '../../control-plane/apiserver/create-api-server.ts';
import type { Identity } from '../../control-plane/apiserver/server-parts.ts';
import { temporaryPki } from '../../control-plane/apiserver/transport/tls.testing.ts';
import { temporaryStore } from '../../control-plane/store/temporary-store.testing.ts';
import { startVirtApi } from '../start.ts';

export type AdmissionWorld = Awaited<ReturnType<typeof startAdmissionWorld>>;

export async function startAdmissionWorld() {
  const { pki, remove } = await temporaryPki();
  const { store, close } = temporaryStore({});
  const stop = new AbortController();
  let port = 0;
  const resolveService = async () => ({ host: '127.0.0.1', port });
  const admission = createAdmission({ store, resolveService, exemptUsers: ['system:apiserver'], log: silentLogger });
  const proxy = createServiceProxy({ resolveService, frontProxy: () => pki.frontProxyClient, log: silentLogger });
  const proxyToService = (apiService: object, request: Request, identity: Identity) =>
    proxy.proxyToService(apiService as ApiService, request, identity); // its schema was checked when it was written
  const server = await createApiServer({ store, clock: systemClock, log: silentLogger, hooks: { admission, proxyToService } });
  const identityOf = (user: string) => ({ user, groups: ['system:masters', 'system:authenticated'] });
  const asVirtApi = (request: Request) => server.handle(request, identityOf(userNameOf('virt-api')));
  const client = createClient({ fetch: asVirtApi, baseUrl: 'https://k', userAgent: 'test' });
  const virtApi = await startVirtApi({
    client,
    pki,
    host: '127.0.0.1',
    port: 0,
    clock: systemClock,
    log: silentLogger,
    signal: stop.signal,
  });
  port = virtApi.port;

  async function send(
    method: string,
    path: string,
    body?: unknown,
    user = 'ada',
  ): Promise<{ status: number; body: Answer; warning: string }> {
    const headers = { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' };
    const text = body === undefined ? undefined : JSON.stringify(body);
    const response = await server.handle(new Request(new URL(path, 'https://k'), { method, headers, body: text }), identityOf(user));
    return { status: response.status, body: (await response.json()) as Answer, warning: response.headers.get('warning') ?? '' };
  }

  for (const crd of readdirSync('deploy/crds').flatMap((file) => documents(`deploy/crds/${file}`)))
    await send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
  const caBundle = Buffer.from(pki.kubevirtCa).toString('base64');
  for (const { spec, ...rest } of documents('deploy/virt-api.yaml').filter(({ kind }) => kind === 'APIService'))
    await send('POST', '/apis/apiregistration.k8s.io/v1/apiservices', { ...rest, spec: { ...(spec as object), caBundle } });
  for (const { kind, webhooks, ...rest } of documents('deploy/webhooks.yaml')) {
    const ours = (webhooks as { clientConfig: object }[]).map((each) => ({ ...each, clientConfig: { ...each.clientConfig, caBundle } }));
    await send('POST', `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}s`, { kind, ...rest, webhooks: ours });
  }
  return {
    send,
    handle: server.handle,
    pki,
    async close() {
      stop.abort();
      await virtApi.stopped;
      proxy.close();
      admission.close();
      server.close();
      close();
      await remove();
    },
  };
}

type Answer = { [key: string]: unknown; message?: string; details?: { causes?: readonly { field: string; message: string }[] } };
type Document = { kind: string; apiVersion: string; metadata: { name: string }; [key: string]: unknown };

/** The objects of a manifest. */
export function documents(path: string): Document[] {
  return parseAllDocuments(readFileSync(path, 'utf8')).map((each) => each.toJS());
}
