/** The way to a cluster over the network, for the typed client: certificates or a token, connections that are used again. */
import { ApiError, messageOf } from '../../base/errors.ts';
import { httpsFetch, keepAliveAgent, type TlsIdentity } from '../../base/node/https-fetch.ts';
import type { KubeFetch } from '../client.ts';
import type { Cluster } from './kubeconfig.ts';

/** What to say about the failures that people meet most. */
const PLAIN_WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there; is the cluster running?',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name could not be looked up',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the host does not answer',
  ECONNRESET: 'the connection was closed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not signed by the authority in the kubeconfig',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not signed by the authority in the kubeconfig',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not signed by the authority in the kubeconfig',
  CERT_SIGNATURE_FAILURE: 'its certificate is not signed by the authority in the kubeconfig',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
};

/** A fetch that reaches this cluster and speaks with the identity of its user. */
export function createTlsFetch(cluster: Cluster): KubeFetch {
  const agent = keepAliveAgent();
  const { login } = cluster;

  async function send(request: Request, who: Cluster): Promise<Response> {
    const headers = { ...Object.fromEntries(request.headers), ...tokenHeader(who) };
    const told = traceOf(cluster, request);
    try {
      const response = await httpsFetch(request, { ...tlsOf(who), agent, headers });
      told?.(`${response.status} ${response.statusText}`.trim());
      return response;
    } catch (error) {
      told?.(messageOf(error));
      if (request.signal.aborted) throw error;
      throw cannotReach(cluster, error);
    }
  }

  if (login === undefined) return (request) => send(request, cluster);
  return async (request) => {
    const identity = await login.identity();
    const again = isKept(request) ? request.clone() : undefined;
    const response = await send(request, { ...cluster, ...identity });
    if (response.status !== 401) return response;
    login.refused(identity);
    if (again === undefined) return response;
    await response.body?.cancel();
    return send(again, { ...cluster, ...(await login.identity()) });
  };
}

/** Objects can be sent twice; a disk that is sent goes through once. */
function isKept({ body, headers }: Request): boolean {
  return body === null || /[/+](json|yaml)\b/.test(headers.get('content-type') ?? '');
}

/** The cluster with the one that we are there now. */
export async function withIdentity(cluster: Cluster): Promise<Cluster> {
  return cluster.login === undefined ? cluster : { ...cluster, ...(await cluster.login.identity()) };
}

/** How to prove who we are and check who they are. */
export function tlsOf({ ca, cert, key, tlsServerName, insecureSkipTlsVerify }: Cluster): TlsIdentity {
  return {
    ...(ca ? { ca } : {}),
    ...(cert && key ? { cert, key } : {}),
    ...(tlsServerName ? { servername: tlsServerName } : {}),
    ...(insecureSkipTlsVerify ? { rejectUnauthorized: false } : {}),
  };
}

export function tokenHeader({ token }: Cluster): Record<string, string> {
  return token ? { authorization: `Bearer ${token}` } : {};
}

/** The error for a server that gives no answer at all. */
export function cannotReach({ server }: Cluster, error: unknown): ApiError {
  const code = String((error as { code?: unknown })?.code ?? '');
  const why = PLAIN_WORDS[code] ?? (messageOf(error) || code);
  return new ApiError('ServiceUnavailable', `Cannot reach the Kubernetes API at ${server}: ${why}`, { cause: error });
}

/** Tells how a request was answered and how long that took; undefined when nobody wants to know. */
export function traceOf(
  { trace }: Cluster,
  { method, url }: { readonly method: string; readonly url: string },
): ((answer: string) => void) | undefined {
  if (!trace) return undefined;
  const startedAt = performance.now();
  return (answer) => trace(`${method} ${url} ${answer} in ${Math.round(performance.now() - startedAt)} ms`);
}
