/** pause, unpause, reset and soft-reboot: what is said of a running guest. */
import type { ClusterDeps } from '../deps.ts';
import { vmName } from '../vm-target.ts';
import { type LifecycleFlags, putSubresource, RESOURCES, withDryRun } from './put-subresource.ts';

type InstanceCall = {
  readonly verb: 'pause' | 'unpause' | 'reset' | 'soft-reboot';
  readonly flags: LifecycleFlags;
  readonly words: readonly string[];
};

/** Sends it, and says what was done. */
export async function callInstance({ client, namespace, stdout }: ClusterDeps, { verb, flags, words }: InstanceCall): Promise<void> {
  const name = vmName(verb, words);
  if (flags.dryRun) stdout.write('Dry Run execution\n');
  const subresource = verb === 'soft-reboot' ? 'softreboot' : verb;
  await putSubresource(client, { namespace, resource: RESOURCES.vmi, name, verb: subresource }, withDryRun({}, flags));
  stdout.write(`VMI ${name} was scheduled to ${verb}\n`);
}
