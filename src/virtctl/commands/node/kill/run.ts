/** As when the power of a node goes: nothing there is asked, nothing is told. */
import { VMIS } from '../../../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { powerOf } from '../../../../api/kubevirt/node-power.ts';
import { UserError } from '../../../../base/errors.ts';
import { canAsk, confirm } from '../../../confirm.ts';
import type { ClusterDeps, ConnectionFlags } from '../../../deps.ts';
import { findNode } from '../../../node/find-node.ts';
import { switchNode } from '../../../node/switch-node.ts';

export async function run(deps: ClusterDeps, { yes }: ConnectionFlags & { readonly yes: boolean }, name: string): Promise<void> {
  const { client, clock, stdout, stderr } = deps;
  const node = await findNode(deps, name);
  if (!yes && powerOf(node) !== undefined && canAsk(deps)) {
    const { items } = await client.list(VMIS);
    for (const { metadata, status } of items)
      if (status?.nodeName === name && status.phase === 'Running') stderr.write(`  ${metadata.namespace}/${metadata.name} runs there\n`);
    if (!(await confirm(deps, `Cut node ${name} off with all that runs there?`)))
      throw new UserError('NOT_CONFIRMED', 'nothing was killed', { fix: `virtctl node drain ${name} lets guests shut down first` });
  }
  await switchNode(client, node, { wanted: 'killed', clock });
  stdout.write(`node ${name} is cut off, and so is what ran there; Kubernetes misses it after 50 s\n`);
}
