/** Stops the kubelet and virt-handler of a node; nobody has told Kubernetes, which notices by itself. */
import type { ClusterDeps, ConnectionFlags } from '../../../deps.ts';
import { findNode } from '../../../node/find-node.ts';
import { switchNode } from '../../../node/switch-node.ts';

export async function run(deps: ClusterDeps, _flags: ConnectionFlags, name: string): Promise<void> {
  const { client, clock, stdout } = deps;
  await switchNode(client, await findNode(deps, name), { wanted: 'stopped', clock });
  stdout.write(`node ${name} is stopped: its guests run on, Kubernetes misses it after 50 s\n`);
}
