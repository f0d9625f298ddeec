/** Passes a WebSocket on to the virt-handler of the node where the instance runs, as bytes. */
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ApiError, messageOf } from '../../base/errors.ts';
import { VIRT_HANDLER_SERVER_NAME } from '../../base/node/pki.ts';
import { tunnelUpgrade } from '../../base/node/tunnel-upgrade.ts';
import type { UpgradeCall } from '../call.ts';
import { findHandler } from './find-handler.ts';

const SUBPROTOCOL = 'plain.kubevirt.io';
const HANDSHAKE_TIMEOUT_MS = 10_000;

/** Connects the caller with what virt-handler has of this instance: `console`, `portforward/22/tcp`. Its refusals are passed on. */
export async function tunnelToHandler(call: UpgradeCall, vmi: VirtualMachineInstance, what: string): Promise<void> {
  const { client, log, namespace, name, upgrade, handlerTls } = call;
  const nodeName = vmi.status?.nodeName ?? '';
  const handler = await findHandler(client, nodeName);
  try {
    await tunnelUpgrade({
      ...handlerTls,
      ...handler,
      ...upgrade,
      servername: VIRT_HANDLER_SERVER_NAME,
      method: 'GET',
      path: handlerPath(call, what),
      headers: handlerHeaders(call),
      protocol: 'websocket',
      handshakeTimeoutMs: HANDSHAKE_TIMEOUT_MS,
    });
    log.info(`${what} opened`, { object: `VirtualMachineInstance ${namespace}/${name}`, because: `${call.user} asked for it` });
  } catch (error) {
    throw new ApiError('ServiceUnavailable', `Cannot reach the virt-handler of node ${nodeName}: ${messageOf(error)}`, { cause: error });
  }
}

function handlerPath({ namespace, name, upgrade }: UpgradeCall, what: string): string {
  const { search } = new URL(`https://virt-api${upgrade.request.url}`);
  return `/v1/namespaces/${encodeURIComponent(namespace)}/virtualmachineinstances/${encodeURIComponent(name)}/${what}${search}`;
}

/** Only what the handshake needs. A subprotocol that we do not know is left out, which means: none was agreed on. */
function handlerHeaders({ upgrade }: UpgradeCall): Record<string, string> {
  const { headers } = upgrade.request;
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((each) => each.trim());
  return {
    host: VIRT_HANDLER_SERVER_NAME,
    'sec-websocket-version': headers['sec-websocket-version'] ?? '13',
    'sec-websocket-key': headers['sec-websocket-key'] ?? '',
    ...(offered.includes(SUBPROTOCOL) ? { 'sec-websocket-protocol': SUBPROTOCOL } : {}),
  };
}
