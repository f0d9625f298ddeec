/** One request to the virt-handler of the node where an instance runs; its refusals are passed on. */
import { ApiError, messageOf, STATUS_CODES, type StatusReason } from '../../base/errors.ts';
import { httpsFetch, keepAliveAgent } from '../../base/node/https-fetch.ts';
import { VIRT_HANDLER_SERVER_NAME } from '../../base/node/pki.ts';
import type { Call } from '../call.ts';
import { findHandler } from './find-handler.ts';

export type HandlerRequest = {
  readonly method: 'GET' | 'PUT';
  /** What is asked for, the last part of the path. */
  readonly what: string;
  readonly nodeName: string;
  /** Where, when it is not about one instance. */
  readonly path?: string;
  readonly body?: object;
  readonly timeoutMs?: number;
};

const ANSWER_MS = 10_000;

/** What virt-handler answered, as text. Throws what it refused with, or ServiceUnavailable when it cannot be reached. */
export async function askHandler(call: Call, asked: HandlerRequest): Promise<string> {
  return Buffer.from(await askHandlerForBytes(call, asked)).toString('utf8');
}

/** The same, as it came. */
export async function askHandlerForBytes({ client, namespace, name, handlerTls }: Call, asked: HandlerRequest): Promise<ArrayBuffer> {
  const { method, what, nodeName, body, timeoutMs = ANSWER_MS } = asked;
  const { host, port } = await findHandler(client, nodeName);
  const path = asked.path ?? `/v1/namespaces/${encodeURIComponent(namespace)}/virtualmachineinstances/${encodeURIComponent(name)}/${what}`;
  const agent = keepAliveAgent();
  try {
    const request = new Request(`https://${VIRT_HANDLER_SERVER_NAME}${path}`, {
      method,
      signal: AbortSignal.timeout(timeoutMs),
      ...(body && { body: JSON.stringify(body) }),
    });
    const response = await httpsFetch(request, { ...handlerTls, agent, connectTo: { host, port }, servername: VIRT_HANDLER_SERVER_NAME });
    const bytes = await response.arrayBuffer();
    if (response.ok) return bytes;
    throw new ApiError(reasonOf(response.status), `Cannot ${what} VMI ${namespace}/${name}: ${Buffer.from(bytes).toString('utf8')}`);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError('ServiceUnavailable', `Cannot reach the virt-handler of node ${nodeName}: ${messageOf(error)}`, { cause: error });
  } finally {
    agent.destroy();
  }
}

/** What the handler may say; anything else is our own failure. */
const PASSED_ON: readonly StatusReason[] = ['BadRequest', 'NotFound', 'Conflict', 'TooManyRequests', 'Timeout'];

function reasonOf(status: number): StatusReason {
  return PASSED_ON.find((reason) => STATUS_CODES[reason] === status) ?? 'InternalError';
}
