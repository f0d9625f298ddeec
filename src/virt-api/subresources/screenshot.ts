/** GET virtualmachineinstances/NAME/vnc/screenshot: a picture of the guest's screen, as PNG. */
import { vmiRefusalOf } from '../../api/kubevirt/vm-can.ts';
import { ApiError } from '../../base/errors.ts';
import type { Call } from '../call.ts';
import { askHandlerForBytes } from './ask-handler.ts';
import { getInstance } from './get-instance.ts';

const SLOWEST_MS = 30_000;

/** Takes `?moveCursor=true`, which wakes a screen that has gone dark. */
export async function screenshot(call: Call): Promise<Response> {
  const { namespace, name, request, log, user } = call;
  const movesCursor = booleanOf(new URL(request.url).searchParams.get('moveCursor'));
  const vmi = await getInstance(call);
  const refused = vmiRefusalOf('vnc/screenshot', vmi);
  if (refused) throw new ApiError(refused.reason, `Cannot take a screenshot of VMI ${namespace}/${name}: ${refused.message}`);
  const what = `vnc/screenshot${movesCursor ? '?moveCursor=true' : ''}`;
  const picture = await askHandlerForBytes(call, { method: 'GET', what, nodeName: vmi.status?.nodeName ?? '', timeoutMs: SLOWEST_MS });
  log.info('screenshot', { object: `VirtualMachineInstance ${namespace}/${name}`, because: `${user} asked for it` });
  return new Response(picture, { status: 200, headers: { 'content-type': 'image/png' } });
}

function booleanOf(value: string | null): boolean {
  if (value === null || value === '' || value === 'false') return false;
  if (value === 'true') return true;
  throw new ApiError('BadRequest', `moveCursor: Invalid value: ${JSON.stringify(value)}: must be true or false`);
}
