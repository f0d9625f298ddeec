/**
 * The subresources of an instance that virt-handler answers, each under the name of its route: the state of the instance allows it, or a
 * refusal says why not; then the question goes to the virt-handler of its node, and the answer back as it came.
 */
import { givenInQuery, queryOf, responseOf } from '../../api/handler/message.ts';
import { buildRoutePath } from '../../api/handler/route-path.ts';
import {
  type GuestSubresourceName,
  HANDLER_ROUTES,
  handlerRoute,
  isHandlerRouteName,
  type ParametersOf,
  type QuestionOf,
  type RequestName,
  readQuestion,
  type StreamName,
} from '../../api/handler/routes.ts';
import { STREAM_SUBPROTOCOL } from '../../api/kubevirt/subresources.ts';
import { vmiRefusalOf } from '../../api/kubevirt/vm-can.ts';
import { ApiError, messageOf } from '../../base/errors.ts';
import { VIRT_HANDLER_SERVER_NAME } from '../../base/node/pki.ts';
import { tunnelUpgrade } from '../../base/node/tunnel-upgrade.ts';
import { findHandler } from '../../client/find-handler.ts';
import type { Served, SubresourceCall, UpgradeCall } from '../subresource-call.ts';
import { askHandler } from './ask-handler.ts';
import { getInstance } from './get-instance.ts';
import { isDryRun, readOptions } from './read-options.ts';

type PassedOnRequest = GuestSubresourceName & RequestName;
/** A port is more than a namespace and a name. */
type PassedOnStream = Exclude<GuestSubresourceName & StreamName, 'portforward'>;

type StreamQuestion<Name extends StreamName> = {
  readonly nodeName: string;
  readonly parameters: ParametersOf<Name>;
  readonly question: QuestionOf<Name>;
};

const HANDSHAKE_TIMEOUT_MS = 10_000;

/** How a subresource of this name is passed on; undefined when virt-handler has no route for it. */
export function passedOnBy(name: string): Served | undefined {
  if (!isHandlerRouteName(name)) return undefined;
  // Only routes that are subresources get here, and what has more in its path is served by a function of its own.
  if ('stream' in HANDLER_ROUTES[name]) return { open: (call) => passOnStream(call, name as PassedOnStream) };
  return { answer: (call) => passOn(call, name as PassedOnRequest) };
}

/** Asks a question by its table entry. What changes something takes `{ dryRun }`, and is logged. */
async function passOn(call: SubresourceCall, route: PassedOnRequest): Promise<Response> {
  const { namespace, name, request, log, user } = call;
  const { method, answer, subresource } = handlerRoute(route);
  const isChange = method === 'PUT';
  const options = isChange ? await readOptions(request) : givenInQuery(new URL(request.url).searchParams);
  const nodeName = await allowedNode(call, route);
  const question = readQuestion(route, options);
  if (isChange && isDryRun(options)) return new Response(null, { status: 200 });
  const said = await askHandler(call, route, { nodeName, parameters: { namespace, name }, question, purpose: purposeOf(call, route) });
  if (isChange || subresource?.isLogged)
    log.info(route, { object: `VirtualMachineInstance ${namespace}/${name}`, because: `${user} asked for it` });
  return responseOf(answer, said);
}

/** Connects the caller with a stream by its table entry. */
async function passOnStream(call: UpgradeCall, route: PassedOnStream): Promise<void> {
  const { namespace, name, upgrade } = call;
  const question = readQuestion(route, givenInQuery(new URL(`https://virt-api${upgrade.request.url}`).searchParams));
  const nodeName = await allowedNode(call, route);
  await tunnelToHandler(call, route, { nodeName, parameters: { namespace, name }, question });
}

/** The node of the instance, when that is in a state that allows this; throws NotFound, or why not. */
export async function allowedNode(
  call: Pick<SubresourceCall, 'client' | 'namespace' | 'name'>,
  route: GuestSubresourceName,
): Promise<string> {
  const vmi = await getInstance(call);
  const refused = vmiRefusalOf(route, vmi);
  // Clients of KubeVirt look for the reason, some of them at the beginning.
  if (refused) throw new ApiError(refused.reason, `${refused.message.replace(/\.?$/, '.')} Cannot ${purposeOf(call, route)}`);
  return vmi.status?.nodeName ?? '';
}

function purposeOf({ namespace, name }: Pick<SubresourceCall, 'namespace' | 'name'>, route: GuestSubresourceName): string {
  const { subresource } = handlerRoute(route);
  return `${subresource?.verb ?? route} VMI ${namespace}/${name}`;
}

/** Connects the caller with what virt-handler has of this instance, as bytes. Its refusals are passed on. */
export async function tunnelToHandler<Name extends StreamName>(
  call: UpgradeCall,
  route: Name,
  { nodeName, parameters, question }: StreamQuestion<Name>,
): Promise<void> {
  const { client, log, namespace, name, upgrade, handlerTls } = call;
  const path = `${buildRoutePath(handlerRoute(route).path, parameters)}${queryOf(question)}`;
  const handler = await findHandler(client, nodeName);
  try {
    await tunnelUpgrade({
      ...handlerTls,
      ...handler,
      ...upgrade,
      servername: VIRT_HANDLER_SERVER_NAME,
      method: 'GET',
      path,
      headers: handlerHeaders(call),
      protocol: 'websocket',
      handshakeTimeoutMs: HANDSHAKE_TIMEOUT_MS,
    });
    log.info(`${route} opened`, { object: `VirtualMachineInstance ${namespace}/${name}`, because: `${call.user} asked for it` });
  } catch (error) {
    throw new ApiError('ServiceUnavailable', `Cannot reach the virt-handler of node ${nodeName}: ${messageOf(error)}`, { cause: error });
  }
}

/** Only what the handshake needs. A subprotocol that we do not know is left out, which means: none was agreed on. */
function handlerHeaders({ upgrade }: UpgradeCall): Record<string, string> {
  const { headers } = upgrade.request;
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((each) => each.trim());
  return {
    host: VIRT_HANDLER_SERVER_NAME,
    'sec-websocket-version': headers['sec-websocket-version'] ?? '13',
    'sec-websocket-key': headers['sec-websocket-key'] ?? '',
    ...(offered.includes(STREAM_SUBPROTOCOL) ? { 'sec-websocket-protocol': STREAM_SUBPROTOCOL } : {}),
  };
}
