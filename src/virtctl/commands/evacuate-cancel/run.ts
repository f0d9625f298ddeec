/** Takes back that machines have to leave their node, as an eviction has asked. */
import { subresourcePath } from '../../../api/kubevirt/subresource-path.ts';
import type { ClusterDeps } from '../../deps.ts';
import type { LifecycleFlags } from '../../lifecycle/call-subresource.ts';
import { vmTargets } from '../../vm-target.ts';

export async function run({ client, namespace, stdout }: ClusterDeps, { dryRun }: LifecycleFlags, ...words: string[]): Promise<void> {
  if (dryRun) stdout.write('Dry Run execution\n');
  for (const { kind, name } of vmTargets('evacuate-cancel', words)) {
    const resource = kind === 'vmi' ? 'virtualmachineinstances' : 'virtualmachines';
    await client.request(subresourcePath({ namespace, resource, name }, 'evacuate/cancel'), {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(dryRun ? { dryRun: ['All'] } : {}),
    });
    stdout.write(`${kind === 'vmi' ? 'VMI' : 'VM'} ${namespace}/${name} was canceled evacuation\n`);
  }
}
