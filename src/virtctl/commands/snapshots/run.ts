/** What was kept of a machine, from the oldest to the newest, those taken after a rollback beneath the one that was rolled back to. */
import { VMS } from '../../../api/kubevirt/kinds/virtual-machine.ts';
import { VM_RESTORES } from '../../../api/kubevirt/kinds/vm-restore.ts';
import { VM_SNAPSHOT_CONTENTS } from '../../../api/kubevirt/kinds/vm-snapshot-content.ts';
import { ApiError } from '../../../base/errors.ts';
import { formatBytes } from '../../../base/quantity.ts';
import { momentOf } from '../../../sdk/manifest/snapshot.ts';
import { snapshotTree } from '../../../sdk/snapshot-tree.ts';
import type { ClusterDeps, ConnectionFlags } from '../../deps.ts';
import { snapshotsOf } from '../../snapshot/snapshots-of.ts';
import { renderTable, withoutEmptyColumns } from '../../table.ts';
import { vmName } from '../../vm-target.ts';

const MIB = 2 ** 20;

export async function run(deps: ClusterDeps, _flags: ConnectionFlags, ...words: string[]): Promise<void> {
  const name = vmName('snapshots', words);
  const found = await snapshotsOf(deps, name);
  if (found.length === 0) {
    if (!(await deps.client.get(VMS, { namespace: deps.namespace, name })))
      throw new ApiError('NotFound', `there is no virtual machine "${name}" in namespace ${deps.namespace}`);
    deps.stderr.write(`nothing is kept of ${name}; virtctl snapshot ${name} keeps it\n`);
    return;
  }
  const { client, namespace } = deps;
  const [contents, restores] = await Promise.all([
    client.list(VM_SNAPSHOT_CONTENTS, { namespace }),
    client.list(VM_RESTORES, { namespace }),
  ]);
  const tree = snapshotTree({ snapshots: found, contents: contents.items, restores: restores.items });
  const rows = tree.map(({ snapshot, indent, sizeBytes }) => {
    const { phase = 'InProgress', snapshotVolumes, indications = [], error } = snapshot.status ?? {};
    const disks = snapshotVolumes?.includedVolumes?.join(',') || '-';
    const size = sizeBytes === undefined ? '-' : formatBytes(Math.ceil(sizeBytes / MIB) * MIB);
    return [
      `${indent}${snapshot.metadata.name}`,
      phase,
      momentOf(snapshot),
      size,
      disks,
      indications.join(',') || 'Offline',
      error?.message ?? '',
    ];
  });
  deps.stdout.write(renderTable(withoutEmptyColumns([['NAME', 'PHASE', 'OF', 'SIZE', 'DISKS', 'HOW', 'ERROR'], ...rows])));
}
