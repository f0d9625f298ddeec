/** The names of machines, for a shell that completes a command line. */
import { VMS } from '../../api/kubevirt/virtual-machine.ts';
import { connect } from '../connect.ts';
import type { Context } from '../context.ts';

/** A person waits for this with a finger on the key. */
const PATIENCE_MS = 1_000;

/** Machines whose name begins like this. Without a cluster there are none: a completion never complains. */
export async function machineNames(context: Context, partial: string): Promise<readonly string[]> {
  try {
    const { client, namespace } = connect(context, {});
    const late = new Promise<never>((_, reject) => setTimeout(() => reject(new Error('too late')), PATIENCE_MS).unref());
    const { items } = await Promise.race([client.list(VMS, { namespace }), late]);
    return items.map((vm) => vm.metadata.name).filter((name) => name.startsWith(partial));
  } catch {
    return [];
  }
}
