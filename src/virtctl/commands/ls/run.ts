/** The machines of a namespace, or of all. */
import { SERVICES } from '../../../api/core/service.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../../../api/core/volume.ts';
import { VMS } from '../../../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { KubeObject } from '../../../api/meta.ts';
import type { Resource } from '../../../api/resource.ts';
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
      const claims = isWide ? await visible(client, PERSISTENT_VOLUME_CLAIMS, where) : [];
      const services = vms.length + vmis.length > 0 ? await visible(client, SERVICES, where) : [];
      if (vms.length + vmis.length > 0)
        writePainted(
          stdout,
          renderTable(vmRows({ vms, vmis, claims, services, now: clock.now(), isWide, isAcross: flags.allNamespaces }), {
            paint: inColour(deps),
          }),
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

/** Not everybody may look at claims and Services; the table is worth having without. */
async function visible<T extends KubeObject>(client: Client, resource: Resource<T>, where: ListOptions): Promise<readonly T[]> {
  try {
    return (await client.list(resource, where)).items;
  } catch (error) {
    if (isApiError(error, 'Forbidden')) return [];
    throw error;
  }
}
