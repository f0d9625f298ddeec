/** What was kept of a machine, from the oldest to the newest. */
import { VMS } from '../../../api/kubevirt/kinds/virtual-machine.ts';
import { ApiError } from '../../../base/errors.ts';
import { momentOf } from '../../../sdk/manifest/snapshot.ts';
import type { ClusterDeps, ConnectionFlags } from '../../deps.ts';
import { snapshotsOf } from '../../snapshot/snapshots-of.ts';
import { renderTable } from '../../table.ts';
import { vmName } from '../../vm-target.ts';

export async function run(deps: ClusterDeps, _flags: ConnectionFlags, ...words: string[]): Promise<void> {
  const name = vmName('snapshots', words);
  const found = await snapshotsOf(deps, name);
  if (found.length === 0) {
    if (!(await deps.client.get(VMS, { namespace: deps.namespace, name })))
      throw new ApiError('NotFound', `there is no virtual machine "${name}" in namespace ${deps.namespace}`);
    deps.stderr.write(`nothing is kept of ${name}; virtctl snapshot ${name} keeps it\n`);
    return;
  }
  const rows = found.map((snapshot) => {
    const { phase = 'InProgress', snapshotVolumes, indications = [], error } = snapshot.status ?? {};
    const disks = snapshotVolumes?.includedVolumes?.join(',') || '-';
    return [snapshot.metadata.name, phase, momentOf(snapshot), disks, indications.join(',') || 'Offline', error?.message ?? ''];
  });
  deps.stdout.write(renderTable([['NAME', 'PHASE', 'OF', 'DISKS', 'HOW', 'ERROR'], ...rows]));
}
