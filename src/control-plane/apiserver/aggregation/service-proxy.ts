/** Hands requests of an aggregated API to the service behind it, in the name of the caller. */
import { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Agent } from 'node:https';
import type { Duplex } from 'node:stream';
import { ApiError, messageOf } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import { httpsFetch, keepAliveAgent, type TlsIdentity } from '../../../base/node/https-fetch.ts';
import type { KeyPair } from '../../../base/node/pki.ts';
import { tunnelUpgrade } from '../../../base/node/tunnel-upgrade.ts';
import type { Identity } from '../transport/identity.ts';
import { remoteHeaders } from './remote-headers.ts';

/** The part of an APIService that says who serves it. */
export type ApiService = {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly service?: { readonly namespace?: string; readonly name?: string; readonly port?: number } | null;
    /** Base64 of PEM. */
    readonly caBundle?: string;
    readonly insecureSkipTLSVerify?: boolean;
  };
};

export type ServiceAddress = { readonly host: string; readonly port: number };
/** An address that serves this port of the Service now, or undefined when nobody does. */
export type ResolveService = (namespace: string, name: string, port: number) => Promise<ServiceAddress | undefined>;

export type ServiceProxy = {
  /** Throws ApiError when the service cannot be reached. */
  proxyToService(apiService: ApiService, request: Request, identity: Identity): Promise<Response>;
  /** Takes the socket over; throws ApiError when the service cannot be reached. */
  proxyUpgrade(apiService: ApiService, request: IncomingMessage, socket: Duplex, head: Buffer, identity: Identity): Promise<void>;
  /** Closes the connections that are kept for later. */
  close(): void;
};

const DEFAULT_PORT = 443;
const HANDSHAKE_TIMEOUT_MS = 30_000;

export function createServiceProxy(options: {
  readonly resolveService: ResolveService;
  /** What we show; asked for with each connection. */
  readonly frontProxy: () => KeyPair;
  readonly log: Logger;
}): ServiceProxy {
  const { resolveService, frontProxy, log } = options;
  const agent: Agent = keepAliveAgent();

  async function locate(apiService: ApiService): Promise<{ address: ServiceAddress; tls: TlsIdentity }> {
    const { namespace = '', name = '', port = DEFAULT_PORT } = apiService.spec.service ?? {};
    const address = await resolveService(namespace, name, port);
    if (!address) throw unavailable(apiService, `service ${namespace}/${name} has no endpoint for port ${port}`);
    return { address, tls: { ...frontProxy(), servername: `${name}.${namespace}.svc`, ...trustOf(apiService) } };
  }

  function failed(apiService: ApiService, error: unknown): ApiError {
    if (error instanceof ApiError) return error;
    log.warn('aggregated API is not reachable', { apiService: apiService.metadata.name, because: messageOf(error) });
    return unavailable(apiService, messageOf(error), error);
  }

  return {
    async proxyToService(apiService, request, identity) {
      try {
        const { address, tls } = await locate(apiService);
        return await httpsFetch(request, { ...tls, agent, connectTo: address, headers: remoteHeaders(request.headers, identity) });
      } catch (error) {
        if (request.signal.aborted) throw error;
        throw failed(apiService, error);
      }
    },
    async proxyUpgrade(apiService, request, socket, head, identity) {
      try {
        const { address, tls } = await locate(apiService);
        await tunnelUpgrade({
          ...tls,
          ...address,
          socket,
          head,
          method: request.method ?? 'GET',
          path: request.url ?? '/',
          headers: { host: tls.servername ?? address.host, ...remoteHeaders(flatHeaders(request), identity) },
          protocol: request.headers.upgrade ?? 'websocket',
          handshakeTimeoutMs: HANDSHAKE_TIMEOUT_MS,
        });
      } catch (error) {
        throw failed(apiService, error);
      }
    },
    close: () => agent.destroy(),
  };
}

/** Without a bundle the system's authorities decide, as in Kubernetes; a bundle that is no certificate must not fall back to them. */
function trustOf(apiService: ApiService): TlsIdentity {
  const { caBundle, insecureSkipTLSVerify } = apiService.spec;
  if (insecureSkipTLSVerify) return { rejectUnauthorized: false };
  if (!caBundle) return {};
  const ca = Buffer.from(caBundle, 'base64').toString('utf8');
  try {
    new X509Certificate(ca);
  } catch (error) {
    throw unavailable(apiService, 'spec.caBundle holds no certificate', error);
  }
  return { ca };
}

function unavailable(apiService: ApiService, why: string, cause?: unknown): ApiError {
  return new ApiError('ServiceUnavailable', `the aggregated API ${apiService.metadata.name} is not available: ${why}`, { cause });
}

function flatHeaders(request: IncomingMessage): [string, string][] {
  return Object.entries(request.headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]);
}
