/** Why there can be no real cluster with nodes on this machine; false when there can. */
import { execFileSync } from 'node:child_process';
import { kubernetesSkipReason } from './kubernetes-skip-reason.ts';

export function nodesSkipReason(): string | false {
  if (process.getuid?.() !== 0) return 'nodes of a real Kubernetes need root';
  try {
    execFileSync('unshare', ['--mount', '--net', '--pid', '--uts', '--ipc', '--fork', 'true'], { stdio: 'ignore' });
  } catch {
    return 'nodes of a real Kubernetes need namespaces, and root may not make them here';
  }
  return kubernetesSkipReason();
}
