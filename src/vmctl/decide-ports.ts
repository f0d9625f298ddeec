/**
 * Which ports of this Pod Services send connections to: those are passed on to the machine. A Service that selects the Pods of vmctl, as
 * the first example of vmctl has it, would otherwise lead nowhere. Only TCP. Pure.
 */
import type { Pod } from '../api/core/pod.ts';
import type { Service } from '../api/core/service.ts';
import { isDeleting } from '../api/meta.ts';
import { matchesLabels, requirementsOf } from '../base/selectors.ts';

/** Each once, in order. */
export function decidePorts(pod: Pod, services: readonly Service[]): number[] {
  const ports = services.filter((service) => selects(service, pod)).flatMap((service) => targetsOf(service, pod));
  return [...new Set(ports)].sort((a, b) => a - b);
}

function selects(service: Service, { metadata }: Pod): boolean {
  const { selector = {} } = service.spec;
  const isNear = service.metadata.namespace === metadata.namespace && !isDeleting(service) && Object.keys(selector).length > 0;
  return isNear && matchesLabels(requirementsOf({ matchLabels: selector }), metadata.labels ?? {});
}

/** A name is looked up among the ports of the Pod, as whoever makes the endpoints does; one that is not there has no endpoint either. */
function targetsOf({ spec }: Service, pod: Pod): number[] {
  const named = pod.spec.containers.flatMap(({ ports = [] }) => ports);
  return (spec.ports ?? [])
    .filter(({ protocol = 'TCP' }) => protocol === 'TCP')
    .flatMap(({ port, targetPort = port }) => {
      if (typeof targetPort === 'number') return [targetPort];
      return named
        .filter(({ name }) => name === targetPort)
        .slice(0, 1)
        .map(({ containerPort }) => containerPort);
    });
}
