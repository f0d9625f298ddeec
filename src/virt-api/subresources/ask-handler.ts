/** One question to the virt-handler of a node, by its table of routes; its refusals are passed on. */
import { answerFrom, queryOf } from '../../api/handler/message.ts';
import { buildRoutePath } from '../../api/handler/route-path.ts';
import { type AnswerOf, handlerRoute, type ParametersOf, type QuestionOf, type RequestName } from '../../api/handler/routes.ts';
import { ApiError, messageOf, type StatusReason } from '../../base/errors.ts';
import { httpsFetch, keepAliveAgent } from '../../base/node/https-fetch.ts';
import { VIRT_HANDLER_SERVER_NAME } from '../../base/node/pki.ts';
import { readBytes } from '../../base/read-bytes.ts';
import { timeoutSignal } from '../../base/timeout-signal.ts';
import { errorFrom } from '../../client/client.ts';
import { findHandler } from '../../client/find-handler.ts';
import type { SubresourceCall } from '../subresource-call.ts';

export type HandlerQuestion<Name extends RequestName> = {
  readonly nodeName: string;
  readonly parameters: ParametersOf<Name>;
  readonly question: QuestionOf<Name>;
  /** What it is asked for, to tell what could not be done: `pause VMI default/db`. */
  readonly purpose: string;
};

const ANSWER_MS = 10_000;
/** The largest is a picture of a large screen. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** What the handler refuses us, it does not refuse the user. */
const OUR_OWN_FAULTS: readonly StatusReason[] = ['Unauthorized', 'Forbidden', 'MethodNotAllowed'];

/** What virt-handler answers. Throws what it refused with, or ServiceUnavailable when it cannot be reached. */
export async function askHandler<Name extends RequestName>(
  { client, handlerTls }: Pick<SubresourceCall, 'client' | 'handlerTls'>,
  name: Name,
  { nodeName, parameters, question, purpose }: HandlerQuestion<Name>,
): Promise<AnswerOf<Name>> {
  const { method, path, answer, timeoutMs = ANSWER_MS } = handlerRoute(name);
  const url = `https://${VIRT_HANDLER_SERVER_NAME}${buildRoutePath(path, parameters)}${method === 'GET' ? queryOf(question) : ''}`;
  const body = method === 'PUT' && Object.keys(question).length > 0 ? { body: JSON.stringify(question) } : {};
  const connectTo = await findHandler(client, nodeName);
  const agent = keepAliveAgent();
  try {
    const request = new Request(url, { method, signal: timeoutSignal(timeoutMs), ...body });
    const response = await httpsFetch(request, { ...handlerTls, agent, connectTo, servername: VIRT_HANDLER_SERVER_NAME });
    if (!response.ok) throw refusalOf(await errorFrom(response), purpose);
    return answerFrom(answer, await readBytes(response.body, MAX_ANSWER_BYTES, 'the answer of virt-handler')) as AnswerOf<Name>; // of this route
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError('ServiceUnavailable', `Cannot reach the virt-handler of node ${nodeName}: ${messageOf(error)}`, { cause: error });
  } finally {
    agent.destroy();
  }
}

function refusalOf(error: ApiError, purpose: string): ApiError {
  const reason = OUR_OWN_FAULTS.includes(error.reason) ? 'InternalError' : error.reason;
  return new ApiError(reason, `Cannot ${purpose}: ${error.message}`, { cause: error, details: error.details });
}
