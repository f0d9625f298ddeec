/** Makes an export. */
import { VM_EXPORTS } from '../../../../api/kubevirt/kinds/vm-export.ts';
import type { ClusterDeps, ConnectionFlags } from '../../../deps.ts';
import { type CreateFlags, exportFor, sourceIn, usage } from '../../../export/export-object.ts';

export async function run({ client, namespace, stdout }: ClusterDeps, flags: ConnectionFlags & CreateFlags, name: string): Promise<void> {
  const source = sourceIn(flags);
  if (!source) throw usage('nobody says what is to be exported', '--vm, --snapshot or --pvc, and its name');
  await client.create(VM_EXPORTS, exportFor({ namespace, name, source }, flags));
  stdout.write(`VirtualMachineExport ${name} of ${source.kind} ${source.name} is made\n`);
}
