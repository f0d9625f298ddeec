/** GET virtualmachineinstances/NAME/console: the WebSocket is passed on to the virt-handler of the node. */
import { vmiRefusalOf } from '../../api/kubevirt/vm-can.ts';
import { ApiError } from '../../base/errors.ts';
import type { UpgradeCall } from '../call.ts';
import { getInstance } from './get-instance.ts';
import { tunnelToHandler } from './handler-tunnel.ts';

/** Connects the caller with the serial console of a running instance. */
export async function openConsole(call: UpgradeCall): Promise<void> {
  const vmi = await getInstance(call);
  const refused = vmiRefusalOf('console', vmi);
  if (refused) throw new ApiError(refused.reason, `Cannot open the console of VMI ${call.namespace}/${call.name}: ${refused.message}`);
  await tunnelToHandler(call, vmi, 'console');
}
