/** Passes a WebSocket on to the virt-handler of the node where the instance runs, as bytes, by its table of routes. */
import { queryOf } from '../../api/handler/message.ts';
import { buildRoutePath } from '../../api/handler/route-path.ts';
import { handlerRoute, type ParametersOf, type QuestionOf, type StreamName } from '../../api/handler/routes.ts';
import { STREAM_SUBPROTOCOL } from '../../api/kubevirt/subresources.ts';
import { ApiError, messageOf } from '../../base/errors.ts';
import { VIRT_HANDLER_SERVER_NAME } from '../../base/node/pki.ts';
import { tunnelUpgrade } from '../../base/node/tunnel-upgrade.ts';
import type { UpgradeCall } from '../subresource-call.ts';
import { findHandler } from './find-handler.ts';

export type StreamQuestion<Name extends StreamName> = {
  readonly nodeName: string;
  readonly parameters: ParametersOf<Name>;
  readonly question: QuestionOf<Name>;
};

const HANDSHAKE_TIMEOUT_MS = 10_000;

/** Connects the caller with what virt-handler has of this instance. Its refusals are passed on. */
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
