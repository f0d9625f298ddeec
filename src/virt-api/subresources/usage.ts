/** GET virtualmachineinstances/NAME/usage: processor time and memory that a guest takes of its node. A subresource of ours. */
import { vmiRefusalOf } from '../../api/kubevirt/vm-can.ts';
import { ApiError } from '../../base/errors.ts';
import type { Call } from '../call.ts';
import { askHandler } from './ask-handler.ts';
import { getInstance } from './get-instance.ts';

export async function usage(call: Call): Promise<Response> {
  const vmi = await getInstance(call);
  const refused = vmiRefusalOf('usage', vmi);
  if (refused) throw new ApiError(refused.reason, `Cannot measure VMI ${call.namespace}/${call.name}: ${refused.message}`);
  const text = await askHandler(call, { method: 'GET', what: 'usage', nodeName: vmi.status?.nodeName ?? '' });
  return new Response(text, { headers: { 'content-type': 'application/json' } });
}
