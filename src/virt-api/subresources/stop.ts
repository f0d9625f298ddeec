/** PUT virtualmachines/NAME/stop */
import type { SubresourceCall } from '../subresource-call.ts';
import { changeVm } from './change-vm.ts';
import { decideStop } from './decide-stop.ts';
import { isDryRun, readOptions, secondsOption } from './read-options.ts';

/** Accepts `{ gracePeriod, dryRun }`. */
export async function stop({ request, ...call }: SubresourceCall): Promise<Response> {
  const options = await readOptions(request);
  const gracePeriodSeconds = secondsOption(options, 'gracePeriod');
  const decide = (seen: Parameters<typeof decideStop>[0]) => decideStop({ ...seen, gracePeriodSeconds });
  await changeVm({ ...call, verb: 'stop', isDryRun: isDryRun(options), decide, signal: request.signal });
  return new Response(null, { status: 202 });
}
