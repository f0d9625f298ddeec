/** Ports of the node itself that Pods ask for: two Pods cannot have the same one. */
import type { ContainerPort, Pod } from '../../api/core/pod.ts';

export function hostPortsOf({ spec }: Pod): readonly ContainerPort[] {
  return spec.containers.flatMap(({ ports = [] }) => ports).filter(({ hostPort }) => hostPort !== undefined && hostPort > 0);
}

/** None of these ports is one that the other Pods have. */
export function areFree(wanted: readonly ContainerPort[], others: Iterable<Pod>): boolean {
  if (wanted.length === 0) return true;
  for (const other of others) {
    if (hostPortsOf(other).some((taken) => wanted.some((port) => isSamePort(port, taken)))) return false;
  }
  return true;
}

function isSamePort(a: ContainerPort, b: ContainerPort): boolean {
  const isAny = (address = '') => address === '' || address === '0.0.0.0';
  const isSameAddress = isAny(a.hostIP) || isAny(b.hostIP) || a.hostIP === b.hostIP;
  return a.hostPort === b.hostPort && (a.protocol ?? 'TCP') === (b.protocol ?? 'TCP') && isSameAddress;
}
