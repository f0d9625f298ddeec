/** A rule that a Pod breaks, as the text that its author reads. */
import type { Container, Pod } from '../../../api/core/pod.ts';

export type Violation = string;

/** Everything in a Pod that runs. */
export function allContainers({ spec }: Pod): Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])];
}

/** `container "a"`, `containers "a", "b"`. */
export function naming(containers: readonly Container[]): string {
  const names = containers.map(({ name }) => JSON.stringify(name)).join(', ');
  return `container${containers.length > 1 ? 's' : ''} ${names}`;
}
