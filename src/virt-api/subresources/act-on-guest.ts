/** PUT virtualmachineinstances/NAME/{pause,unpause,reset,softreboot}: passed on to the virt-handler of the node, which has QEMU's ear. */
import { VMIS } from '../../api/kubevirt/virtual-machine-instance.ts';
import { type VmiAction, vmiRefusalOf } from '../../api/kubevirt/vm-can.ts';
import { ApiError, messageOf } from '../../base/errors.ts';
import { httpsFetch, keepAliveAgent } from '../../base/node/https-fetch.ts';
import { VIRT_HANDLER_SERVER_NAME } from '../../base/node/pki.ts';
import type { Call } from '../call.ts';
import { findHandler } from './find-handler.ts';
import { isDryRun, readOptions } from './read-options.ts';

const ANSWER_MS = 10_000;

/** Accepts `{ dryRun }`; answers when QEMU has obeyed. */
export async function actOnGuest(call: Call, action: VmiAction): Promise<Response> {
  const { client, log, namespace, name, user } = call;
  const options = await readOptions(call.request);
  const vmi = await client.get(VMIS, { namespace, name });
  if (!vmi) {
    const details = { name, group: 'kubevirt.io', kind: 'virtualmachineinstances' };
    throw new ApiError('NotFound', `virtualmachineinstances.kubevirt.io "${name}" not found`, { details });
  }
  const refused = vmiRefusalOf(action, vmi);
  if (refused) throw new ApiError(refused.reason, `Cannot ${action} VMI ${namespace}/${name}: ${refused.message}`);
  if (!isDryRun(options)) {
    await tellHandler(call, action, vmi.status?.nodeName ?? '');
    log.info(action, { object: `VirtualMachineInstance ${namespace}/${name}`, because: `${user} asked for it` });
  }
  return new Response(null, { status: 200 });
}

async function tellHandler({ client, namespace, name, handlerTls }: Call, action: string, nodeName: string): Promise<void> {
  const { host, port } = await findHandler(client, nodeName);
  const path = `/v1/namespaces/${encodeURIComponent(namespace)}/virtualmachineinstances/${encodeURIComponent(name)}/${action}`;
  const agent = keepAliveAgent();
  try {
    const request = new Request(`https://${VIRT_HANDLER_SERVER_NAME}${path}`, { method: 'PUT', signal: AbortSignal.timeout(ANSWER_MS) });
    const response = await httpsFetch(request, { ...handlerTls, agent, connectTo: { host, port }, servername: VIRT_HANDLER_SERVER_NAME });
    const text = await response.text();
    if (!response.ok) throw new ApiError('InternalError', `Cannot ${action} VMI ${namespace}/${name}: ${text}`);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError('ServiceUnavailable', `Cannot reach the virt-handler of node ${nodeName}: ${messageOf(error)}`, { cause: error });
  } finally {
    agent.destroy();
  }
}
