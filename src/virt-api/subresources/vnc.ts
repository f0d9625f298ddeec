/** GET virtualmachineinstances/NAME/vnc: the screen of the guest, as the bytes of the RFB protocol over a WebSocket. */
import { vmiRefusalOf } from '../../api/kubevirt/vm-can.ts';
import { ApiError } from '../../base/errors.ts';
import type { UpgradeCall } from '../call.ts';
import { getInstance } from './get-instance.ts';
import { tunnelToHandler } from './handler-tunnel.ts';

/** Connects the caller with the VNC server of a running instance. */
export async function openScreen(call: UpgradeCall): Promise<void> {
  const vmi = await getInstance(call);
  const refused = vmiRefusalOf('vnc', vmi);
  if (refused) throw new ApiError(refused.reason, `Cannot open the screen of VMI ${call.namespace}/${call.name}: ${refused.message}`);
  await tunnelToHandler(call, vmi, 'vnc');
}
