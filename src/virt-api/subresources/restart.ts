/** PUT virtualmachines/NAME/restart */
import { ApiError } from '../../base/errors.ts';
import type { SubresourceCall } from '../subresource-call.ts';
import { changeVm } from './change-vm.ts';
import { decideRestart } from './decide-restart.ts';
import { isDryRun, readOptions, secondsOption } from './read-options.ts';

/** Accepts `{ gracePeriodSeconds, dryRun }`; the only grace period that can be asked for is 0. */
export async function restart({ request, ...call }: SubresourceCall): Promise<Response> {
  const options = await readOptions(request);
  const gracePeriodSeconds = secondsOption(options, 'gracePeriodSeconds');
  if (gracePeriodSeconds) throw new ApiError('BadRequest', 'gracePeriodSeconds: only 0 is supported for a restart');
  const decide = (seen: Parameters<typeof decideRestart>[0]) => decideRestart({ ...seen, gracePeriodSeconds });
  await changeVm({ ...call, verb: 'restart', isDryRun: isDryRun(options), decide, signal: request.signal });
  return new Response(null, { status: 202 });
}
