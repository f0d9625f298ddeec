/** What doctor finds, for the web page of an embedded cluster. */
import { existsSync } from 'node:fs';
import type { HostCheck } from '../../api/page/host-checks.ts';
import { kubeconfigPath } from '../../client/node/find-kubeconfig.ts';
import { type Cluster, loadKubeconfig } from '../../client/node/kubeconfig.ts';
import { decideChecks } from './decide.ts';
import { type HostDeps, observeHost } from './observe.ts';

/** Of a cluster that runs those who can make namespaces have made them; from within it nobody can tell. */
const NOT_FROM_WITHIN: ReadonlySet<string> = new Set(['namespaces']);

/** Looks; the process of the cluster itself may be in a network and a user namespace of its own. */
export async function lookAtHost(deps: HostDeps, from: 'outside' | 'within'): Promise<readonly HostCheck[]> {
  const checks = decideChecks(await observeHost(deps));
  return from === 'outside' ? checks : checks.filter(({ name }) => !NOT_FROM_WITHIN.has(name));
}

/** Whether this is the embedded cluster of the data folder: only then does its machine concern whoever looks at the cluster. */
export function isClusterOfHome({ ca }: Cluster, home: string): boolean {
  const path = kubeconfigPath(home);
  return ca !== undefined && existsSync(path) && loadKubeconfig(path).ca === ca;
}
