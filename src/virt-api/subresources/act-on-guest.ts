/** PUT virtualmachineinstances/NAME/{pause,unpause,reset,softreboot}: passed on to the virt-handler of the node, which has QEMU's ear. */
import { type VmiAction, vmiRefusalOf } from '../../api/kubevirt/vm-can.ts';
import { ApiError } from '../../base/errors.ts';
import type { Call } from '../call.ts';
import { askHandler } from './ask-handler.ts';
import { getInstance } from './get-instance.ts';
import { isDryRun, readOptions } from './read-options.ts';

/** Accepts `{ dryRun }`; answers when QEMU has obeyed. */
export async function actOnGuest(call: Call, action: VmiAction): Promise<Response> {
  const { log, namespace, name, user } = call;
  const options = await readOptions(call.request);
  const vmi = await getInstance(call);
  const refused = vmiRefusalOf(action, vmi);
  if (refused) throw new ApiError(refused.reason, `Cannot ${action} VMI ${namespace}/${name}: ${refused.message}`);
  if (!isDryRun(options)) {
    await askHandler(call, { method: 'PUT', what: action, nodeName: vmi.status?.nodeName ?? '' });
    log.info(action, { object: `VirtualMachineInstance ${namespace}/${name}`, because: `${user} asked for it` });
  }
  return new Response(null, { status: 200 });
}
