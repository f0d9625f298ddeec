/** Deletes an export; one that is gone already is as wanted. */
import { VM_EXPORTS } from '../../../../api/kubevirt/kinds/vm-export.ts';
import type { ClusterDeps, ConnectionFlags } from '../../../deps.ts';

export async function run({ client, namespace, stdout }: ClusterDeps, _flags: ConnectionFlags, name: string): Promise<void> {
  await client.delete(VM_EXPORTS, { namespace, name });
  stdout.write(`VirtualMachineExport ${name} is deleted\n`);
}
