/** The API server with its way to the servers behind APIServices, and clients for everybody in this process. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Pod } from '../../api/core/pod.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { MetricFamilies } from '../../base/metrics.ts';
import { keepAliveAgent } from '../../base/node/https-fetch.ts';
import type { Pki } from '../../base/node/pki.ts';
import { type Client, createClient } from '../../client/client.ts';
import { SharedObjects } from '../../client/shared-objects.ts';
import { createAdmission } from '../../control-plane/apiserver/admission/create-admission.ts';
import { postToWebhook, type WebhookCallOptions } from '../../control-plane/apiserver/admission/post-to-webhook.ts';
import { type ApiService, createServiceProxy, type ResolveService } from '../../control-plane/apiserver/aggregation/service-proxy.ts';
import { createApiServer, type PodStream } from '../../control-plane/apiserver/create-api-server.ts';
import type { Identity, PodLogOptions } from '../../control-plane/apiserver/server-parts.ts';
import type { Store } from '../../control-plane/store/store.ts';
import { VERSION } from '../version.ts';
import { createMetrics, type NodeUsage } from './pod-and-node-metrics.ts';
import { reachEndpoint } from './reach-endpoint.ts';
import { resolveService } from './resolve-service.ts';
import type { VirtApiEndpoint } from './virt-api-endpoint.ts';

/** Who puts the cluster's own objects in place: no webhook of a user may keep a cluster from starting. */
export const INSTALLER = 'system:embedded-installer';

export type Api = {
  handle(request: Request, identity: Identity): Promise<Response>;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, identity: Identity): Promise<void>;
  /** The owner of a service account's token. */
  reviewToken(token: string): Promise<Identity | undefined>;
  /** A client that acts as this user. */
  clientAs(user: string, groups: readonly string[], extra?: Identity['extra']): Client;
  /** Who answers GET pods/log; known once the kubelet runs. */
  serveLogs(logs: (pod: Pod, options: PodLogOptions) => Promise<Response>): void;
  /** Who measures what nodes and their Pods use; known once the kubelet runs. */
  serveMetrics(look: () => readonly NodeUsage[]): void;
  /** Who answers exec and its like; known once the kubelet runs. */
  serveStreams(serve: ServeStream): void;
  close(): void;
};

type Connection = { readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer };
type ServeStream = (pod: Pod, asked: PodStream, connection: Connection) => Promise<void>;

type ApiOptions = {
  readonly store: Store;
  readonly pki: Pki;
  /** Signs the tokens of service accounts. */
  readonly signingKey: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where virt-api of this process serves: what it admits waits for it. Without one there is none, and nothing waits. */
  readonly virtApi?: VirtApiEndpoint;
  /** What /metrics shows. */
  readonly metricFamilies?: MetricFamilies;
};

export async function startApi({ store, pki, signingKey, clock, log, virtApi, metricFamilies }: ApiOptions): Promise<Api> {
  let logs: ((pod: Pod, options: PodLogOptions) => Promise<Response>) | undefined;
  let streams: ServeStream = async () => {
    throw new ApiError('ServiceUnavailable', 'the node has not started yet');
  };
  let look: () => readonly NodeUsage[] = () => [];
  const resolve: ResolveService = (namespace, name, port) =>
    resolveService(clientAs('system:kube-apiserver', ['system:masters']), { namespace, name, port });
  const proxy = createServiceProxy({
    resolveService: async (namespace, name, port) => (virtApi?.isFor(namespace, name) ? virtApi.address() : resolve(namespace, name, port)),
    frontProxy: () => pki.frontProxyClient,
    log: log.with({ component: 'aggregator' }),
  });
  const admission = createAdmission({
    store,
    resolveService: (namespace, name, port) => (virtApi?.isFor(namespace, name) ? virtApi.untilServing() : resolve(namespace, name, port)),
    exemptUsers: ['system:apiserver', INSTALLER],
    log: log.with({ component: 'kube-apiserver' }),
  });
  const conversionCalls: WebhookCallOptions = { resolveService: resolve, agent: keepAliveAgent(), authorities: new WeakMap() };
  const server = await createApiServer({
    store,
    clock,
    log: log.with({ component: 'kube-apiserver' }),
    signingKey,
    hooks: {
      admission,
      askWebhook: (post) => postToWebhook(post, conversionCalls),
      metrics: createMetrics(() => look(), clock),
      ...(metricFamilies && { metricFamilies }),
      whyNotReady: () => virtApi?.whyNotReady(),
      reachEndpoint,
      proxyToService: (apiService, request, identity) => proxy.proxyToService(apiService as unknown as ApiService, request, identity),
      logs: (pod, options) => {
        if (!logs) throw new ApiError('ServiceUnavailable', 'the node has not started yet');
        return logs(pod as never, options);
      },
    },
  });

  const shared = new SharedObjects();
  function clientAs(user: string, groups: readonly string[], extra?: Identity['extra']): Client {
    const identity: Identity = { user, groups: [...groups, 'system:authenticated'], ...(extra && { extra }) };
    return createClient({
      fetch: (request) => server.handle(request, identity),
      baseUrl: 'https://kubernetes.default.svc',
      userAgent: `${user.split(':').at(-1)}/${VERSION}`,
      shared,
    });
  }

  return {
    handle: (request, identity) => server.handle(request, identity),
    upgrade: (request, socket, head, identity) =>
      server.upgrade(
        { request, identity, socket },
        {
          toService: (apiService, acting) => proxy.proxyUpgrade(apiService as unknown as ApiService, request, socket, head, acting),
          toPod: (pod, asked) => streams(pod as never, asked, { request, socket, head }), // checked by the schema
        },
      ),
    reviewToken: async (token) => server.reviewToken(token),
    clientAs,
    serveLogs: (serve) => {
      logs = serve;
    },
    serveMetrics: (measure) => {
      look = measure;
    },
    serveStreams: (serve) => {
      streams = serve;
    },
    close: () => {
      proxy.close();
      admission.close();
      conversionCalls.agent.destroy();
      server.close();
    },
  };
}
