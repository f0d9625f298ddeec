/** Lets Pods be placed on a node again. */
import { NODES } from '../../../../api/core/node.ts';
import type { ClusterDeps, ConnectionFlags } from '../../../deps.ts';
import { findNode } from '../../../node/find-node.ts';

export async function run(deps: ClusterDeps, _flags: ConnectionFlags, name: string): Promise<void> {
  const { spec } = await findNode(deps, name);
  if (!spec?.unschedulable) return void deps.stdout.write(`node ${name} was open already\n`);
  await deps.client.patch(NODES, { name }, { spec: { unschedulable: null } });
  deps.stdout.write(`node ${name} takes Pods again\n`);
}
