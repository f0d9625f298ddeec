/** Starts the kubelet and virt-handler of a node: they adopt what runs, and tell of what has ended. */
import type { ClusterDeps, ConnectionFlags } from '../../../deps.ts';
import { findNode } from '../../../node/find-node.ts';
import { switchNode } from '../../../node/switch-node.ts';

export async function run(deps: ClusterDeps, _flags: ConnectionFlags, name: string): Promise<void> {
  const { client, clock, stdout } = deps;
  await switchNode(client, await findNode(deps, name), { wanted: 'running', clock });
  stdout.write(`node ${name} runs\n`);
}
