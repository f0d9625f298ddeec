/** The machines of a namespace, or of all. */
import { PERSISTENT_VOLUME_CLAIMS, type PersistentVolumeClaim } from '../../../api/core/volume.ts';
import { VMS } from '../../../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { isApiError } from '../../../base/errors.ts';
import type { Client, ListOptions } from '../../../client/client.ts';
import { paintFor, writePainted } from '../../colour.ts';
import type { ClusterDeps, ConnectionFlags } from '../../deps.ts';
import { vmRows } from '../../ls/rows.ts';
import { stateColour } from '../../ls/state-colour.ts';
import { mustExist } from '../../namespace-exists.ts';
import { renderTable } from '../../table.ts';

export type OutputFormat = 'wide' | 'json' | 'yaml' | 'name';
type ListFlags = ConnectionFlags & { readonly allNamespaces: boolean; readonly output?: OutputFormat };

export async function run(deps: ClusterDeps, flags: ListFlags): Promise<void> {
  const { client, namespace: ours, clock, stdout, stderr } = deps;
  const where = flags.allNamespaces ? {} : { namespace: ours };
  const { items: vms } = await client.list(VMS, where);
  if (vms.length === 0 && !flags.allNamespaces) await mustExist(deps);
  const list = { apiVersion: 'v1', kind: 'List', metadata: {}, items: vms };
  switch (flags.output) {
    case 'json':
      stdout.write(`${JSON.stringify(list, null, 2)}\n`);
      return;
    case 'yaml':
      stdout.write((await import('yaml')).stringify(list, { lineWidth: 0, aliasDuplicateObjects: false }));
      return;
    case 'name':
      for (const vm of vms) stdout.write(`virtualmachine.kubevirt.io/${vm.metadata.name}\n`);
      return;
    case 'wide':
    case undefined: {
      const { items: vmis } = await client.list(VMIS, where);
      const isWide = flags.output === 'wide';
      const claims = isWide ? await visibleClaims(client, where) : [];
      if (vms.length + vmis.length > 0)
        writePainted(
          stdout,
          renderTable(vmRows({ vms, vmis, claims, now: clock.now(), isWide, isAcross: flags.allNamespaces }), inColour(deps)),
        );
      else
        stderr.write(`there are no machines ${flags.allNamespaces ? 'in any namespace' : `in namespace ${ours}`}; virtctl run makes one\n`);
    }
  }
}

/** States stand out; the header stands back. */
function inColour({ stdout, env }: ClusterDeps): (cell: string, shown: string, row: number) => string {
  const paint = paintFor(stdout, env);
  return (cell, shown, row) => paint(row === 0 ? 'dim' : stateColour(cell), shown);
}

/** Not everybody may look at claims; the table is worth having without. */
async function visibleClaims(client: Client, where: ListOptions): Promise<readonly PersistentVolumeClaim[]> {
  try {
    return (await client.list(PERSISTENT_VOLUME_CLAIMS, where)).items;
  } catch (error) {
    if (isApiError(error, 'Forbidden')) return [];
    throw error;
  }
}
