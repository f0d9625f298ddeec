/** PUT virtualmachines/NAME/start */
import type { SubresourceCall } from '../subresource-call.ts';
import { changeVm } from './change-vm.ts';
import { decideStart } from './decide-start.ts';
import { booleanOption, isDryRun, readOptions } from './read-options.ts';

/** Accepts `{ paused, dryRun }`. */
export async function start({ request, ...call }: SubresourceCall): Promise<Response> {
  const options = await readOptions(request);
  const isPaused = booleanOption(options, 'paused');
  const decide = (seen: Parameters<typeof decideStart>[0]) => decideStart({ ...seen, isPaused });
  await changeVm({ ...call, verb: 'start', isDryRun: isDryRun(options), decide, signal: request.signal });
  return new Response(null, { status: 202 });
}
