/** Takes a volume away from a machine that runs: one request to its instance, or to the VM when it is in its template. */
import { subresourcePath } from '../../../api/kubevirt/subresource-path.ts';
import type { ClusterDeps } from '../../deps.ts';
import type { LifecycleFlags } from '../../lifecycle/call-subresource.ts';
import { vmName } from '../../vm-target.ts';

export type RemoveVolumeFlags = LifecycleFlags & { readonly volumeName: string; readonly persist: boolean };

export async function run(deps: ClusterDeps, flags: RemoveVolumeFlags, ...words: string[]): Promise<void> {
  const { client, namespace, stdout } = deps;
  const { volumeName, persist, dryRun } = flags;
  const name = vmName('removevolume', words);
  if (dryRun) stdout.write('Dry Run execution\n');
  const resource = persist ? 'virtualmachines' : 'virtualmachineinstances';
  await client.request(subresourcePath({ namespace, resource, name }, 'removevolume'), {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: volumeName, ...(dryRun && { dryRun: ['All'] }) }),
  });
  stdout.write(`Successfully submitted remove volume request to VM ${name} for volume ${volumeName}\n`);
}
