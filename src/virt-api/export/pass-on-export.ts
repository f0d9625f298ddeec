/** Brings who has the token of an export to the Pod that serves it: from outside by the paths that KubeVirt publishes, and through the API. The Pod looks at the token. */
import { PODS } from '../../api/core/pod.ts';
import { DISK_BYTES_HEADER, EXPORT_PORT, EXPORT_TOKEN_HEADER, exportObjectName } from '../../api/exporter/exporter.ts';
import { VM_EXPORTS } from '../../api/kubevirt/kinds/vm-export.ts';
import { isControlledBy } from '../../api/meta.ts';
import { ApiError, isApiError, messageOf } from '../../base/errors.ts';
import { httpsFetch, keepAliveAgent } from '../../base/node/https-fetch.ts';
import type { Client } from '../../client/client.ts';
import type { SubresourceCall } from '../subresource-call.ts';

type Target = { readonly namespace: string; readonly name: string };
export type ExternalExport = Target & {
  /** At the Pod. */
  readonly path: string;
};

const NAME = '[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?';
const EXTERNAL = new RegExp(
  `^/api/${VM_EXPORTS.group}/(?:${VM_EXPORTS.versions.join('|')})/namespaces/(?<namespace>${NAME})/virtualmachineexports/(?<name>${NAME})(?<path>/(?:volumes|external/manifests)/.+)$`,
);
const PASSED_ON = [EXPORT_TOKEN_HEADER, 'accept', 'if-match', 'if-range', 'range'];
const PASSED_BACK = ['accept-ranges', 'content-length', 'content-range', 'content-type', 'etag', 'location', DISK_BYTES_HEADER];
const AGENT = keepAliveAgent();

/** What a path from outside is for; undefined for any other path. */
export function externalExportOf(pathname: string): ExternalExport | undefined {
  const { namespace, name, path } = EXTERNAL.exec(pathname)?.groups ?? {};
  return namespace && name && path ? { namespace, name, path } : undefined;
}

/**
 * Anybody may knock: the token says who it is. Until the Pod has seen a token that is right nothing is said of the export: who guesses names
 * is told the same of those that are there, those that are not, and those that are not served at the moment.
 */
export async function answerExternal(request: Request, target: ExternalExport, client: Client): Promise<Response> {
  if (!request.headers.get(EXPORT_TOKEN_HEADER)) throw unauthorized();
  const answer = await passOn(request, { client, ...target }).catch((error) => {
    if (isApiError(error, 'NotFound') || isApiError(error, 'ServiceUnavailable')) throw unauthorized(error);
    throw error;
  });
  if (answer.status !== 401) return answer;
  await answer.body?.cancel();
  throw unauthorized();
}

/** GET virtualmachineexports/NAME/volumes/..., virtualmachineexports/NAME/internal/... */
export function exportedBytes({ client, namespace, name, request }: SubresourceCall): Promise<Response> {
  const [, , , , , , , , ...path] = new URL(request.url).pathname.split('/');
  return passOn(request, { client, namespace, name, path: `/${path.join('/')}` });
}

async function passOn(
  request: Request,
  { client, namespace, name, path }: ExternalExport & { readonly client: Client },
): Promise<Response> {
  const host = await addressOf(client, { namespace, name });
  if (host === undefined) throw unavailable(`VirtualMachineExport ${namespace}/${name} serves nothing yet: its Pod does not run`);
  const headers = Object.fromEntries(
    PASSED_ON.flatMap((each) => (request.headers.has(each) ? [[each, request.headers.get(each) ?? '']] : [])),
  );
  try {
    const passed = new Request(`https://virt-exporter${path}${new URL(request.url).search}`, {
      method: request.method,
      signal: request.signal,
    });
    // The Pod is known by its address, which the kubelet says.
    const answer = await httpsFetch(passed, { rejectUnauthorized: false, agent: AGENT, connectTo: { host, port: EXPORT_PORT }, headers });
    const back = new Headers(
      PASSED_BACK.flatMap((each): [string, string][] => (answer.headers.has(each) ? [[each, answer.headers.get(each) ?? '']] : [])),
    );
    return new Response(answer.body, { status: answer.status, headers: back });
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw unavailable(`the Pod that serves VirtualMachineExport ${namespace}/${name} cannot be reached: ${messageOf(error)}`, error);
  }
}

async function addressOf(client: Client, { namespace, name }: Target): Promise<string | undefined> {
  const exported = await client.get(VM_EXPORTS, { namespace, name });
  if (!exported)
    throw new ApiError('NotFound', `virtualmachineexports "${name}" not found`, { details: { name, kind: VM_EXPORTS.plural } });
  const pod = await client.get(PODS, { namespace, name: exportObjectName(name) });
  return pod && isControlledBy(pod, exported) && pod.status?.phase === 'Running' ? pod.status.podIP : undefined;
}

function unauthorized(cause?: unknown): ApiError {
  return new ApiError('Unauthorized', `this needs the token of an export that serves: ${EXPORT_TOKEN_HEADER}: TOKEN`, { cause });
}

function unavailable(message: string, cause?: unknown): ApiError {
  return new ApiError('ServiceUnavailable', message, { cause, details: { retryAfterSeconds: 1 } });
}
