/** A connection to a port of the derived machine. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { VirtualMachineInstance } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { portForwardPath } from '../api/kubevirt/subresource-path.ts';
import { STREAM_SUBPROTOCOL } from '../api/kubevirt/subresources.ts';
import { timeoutSignal } from '../base/timeout-signal.ts';
import type { Cluster } from '../client/node/kubeconfig.ts';
import { openWebSocketStream } from '../client/node/websocket-stream.ts';

/** `canHalfClose`: whether the guest can be told that nothing more will come while its answer is still awaited. */
export type GuestConnection = { readonly stream: Duplex; readonly canHalfClose: boolean };

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Straight to the instance's address where its port is open there. It need not be: ports are opened for Services that select the machine,
 * and ours selects this Pod. Then by the port-forward of the API, which opens it, so that the next connection is a direct one.
 */
export async function openGuestPort(vmi: VirtualMachineInstance, port: number, cluster: Cluster): Promise<GuestConnection> {
  const host = vmi.status?.interfaces?.[0]?.ipAddress;
  if (host) {
    try {
      return { stream: await openDirectly(host, port), canHalfClose: true };
    } catch {
      // closed there: the longer way knows more, and its refusal says why
    }
  }
  const { namespace = '', name } = vmi.metadata;
  const path = portForwardPath({ resource: 'virtualmachineinstances', namespace, name }, port, 'tcp');
  return { stream: await openWebSocketStream({ cluster, path, protocols: [STREAM_SUBPROTOCOL] }), canHalfClose: false };
}

async function openDirectly(host: string, port: number): Promise<Socket> {
  const socket = connect({ host, port, allowHalfOpen: true });
  try {
    await once(socket, 'connect', { signal: timeoutSignal(CONNECT_TIMEOUT_MS) });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
