/** Why no node takes a machine. Pure. */
import { isFinal } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { conditionOf } from '../../api/meta.ts';
import type { Answer, Observed } from './observed.ts';

export function decidePlacing({ name, vmi, pod, nodes }: Observed): Answer | undefined {
  if (!vmi || isFinal(vmi)) return undefined;
  const scheduled = conditionOf(pod?.status?.conditions ?? vmi.status?.conditions, 'PodScheduled');
  if (scheduled?.status !== 'False' || scheduled.reason !== 'Unschedulable') return undefined;
  const message = scheduled.message ?? '';
  const evidence = [`Pod ${pod?.metadata.name ?? ''}: Unschedulable, ${message}`];
  const answer = (what: string, fix: string): Answer => ({ isBlocked: true, what, evidence, fix });
  if (nodes?.length === 0)
    return answer(`there is no node that could run ${name}`, 'virtctl up on this machine, or add a node to the cluster');
  const closed = (nodes ?? []).filter((node) => node.spec?.unschedulable).map((node) => node.metadata.name);
  if (nodes && closed.length === nodes.length)
    return answer(
      `${name} waits because every node is closed to new machines`,
      `kubectl uncordon ${closed.join(' ')} (virtctl up does it for the embedded one)`,
    );
  const short = /Insufficient (\S+?)[,.\s]/.exec(`${message} `)?.[1];
  if (short) return answer(`no node has enough ${short} left for ${name}`, `stop other machines, or ask for less ${short} in its spec`);
  if (/affinity|selector/.test(message))
    return answer(`no node fits the node selector or affinity of ${name}`, `compare with: kubectl get nodes --show-labels`);
  if (/taint/.test(message))
    return answer(`every node keeps ${name} away by a taint`, 'add a toleration to its spec, or remove the taint from a node');
  return answer(`no node takes ${name}`, `kubectl describe pod ${pod?.metadata.name ?? ''}`);
}
