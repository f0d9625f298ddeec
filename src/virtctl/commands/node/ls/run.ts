/** The nodes, of any cluster, with what runs on them. */
import { NODES } from '../../../../api/core/node.ts';
import { PODS } from '../../../../api/core/pod.ts';
import { VMIS } from '../../../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { ClusterDeps } from '../../../deps.ts';
import { nodeRows } from '../../../node/rows.ts';
import { renderTable } from '../../../table.ts';

export async function run({ client, clock, stdout }: ClusterDeps): Promise<void> {
  const [nodes, pods, vmis] = await Promise.all([client.list(NODES), client.list(PODS), client.list(VMIS)]);
  stdout.write(renderTable(nodeRows({ nodes: nodes.items, pods: pods.items, vmis: vmis.items, now: clock.now() })));
}
