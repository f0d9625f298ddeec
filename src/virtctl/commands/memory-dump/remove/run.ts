/** Lets go of the PVC of a machine's memory dumps. */
import { subresourcePath } from '../../../../api/kubevirt/subresource-path.ts';
import type { ClusterDeps, ConnectionFlags } from '../../../deps.ts';
import { vmName } from '../../../vm-target.ts';

export async function run({ client, namespace, stdout }: ClusterDeps, _flags: ConnectionFlags, ...words: string[]): Promise<void> {
  const name = vmName('memory-dump remove', words);
  await client.request(subresourcePath({ namespace, resource: 'virtualmachines', name }, 'removememorydump'), {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  stdout.write(`Successfully submitted remove memory dump association of VM ${name}\n`);
}
