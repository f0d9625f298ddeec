/** Whether a cluster is one on which something is installed and removed. */
import { NODES } from '../../api/core/node.ts';
import { kubernetesProblem } from '../../api/kubevirt/supported-kubernetes.ts';
import { UserError } from '../../base/errors.ts';
import type { Client } from '../../client/client.ts';

/** What it is, in words; a UserError when it is an embedded one or too old. */
export async function requireRealCluster(client: Client): Promise<string> {
  const { gitVersion, gitCommit } = (await (await client.request('/version')).json()) as { gitVersion: string; gitCommit: string };
  if (gitCommit === 'kubevirt-ts')
    throw new UserError('EMBEDDED_CLUSTER', 'this cluster is an embedded one: everything is in it from the start', {
      fix: 'name a Kubernetes cluster with KUBECONFIG or --kubeconfig; virtctl down --purge removes the embedded one',
      exitCode: 4,
    });
  const why = kubernetesProblem(gitVersion);
  if (why) throw new UserError('UNSUPPORTED_KUBERNETES', 'this cluster is not supported', { why, exitCode: 4 });
  const { items } = await client.list(NODES);
  return `Kubernetes ${gitVersion}, ${items.length} node${items.length === 1 ? '' : 's'}`;
}
