/** Why there can be no real cluster with nodes on this machine; false when there can. */
import { whyNoKubernetes } from './why-no-kubernetes.ts';

export function whyNoNodes(): string | false {
  if (process.getuid?.() !== 0) return 'nodes of a real Kubernetes need root';
  return whyNoKubernetes();
}
