/** What a Pod asks of a node, and what it may use at most, as plain numbers: cores, bytes, pieces. */
import { parseQuantity } from '../../base/quantity.ts';
import type { Container, Pod } from './pod.ts';

export type ResourceList = Readonly<Record<string, number>>;

/** Every Pod takes one of the node's `pods`. */
export function requestsOf(pod: Pod): ResourceList {
  return totalOf([podTotal(pod, containerRequests), { pods: 1 }]);
}

/** What the limits of a Pod add up to; a container without one adds nothing. */
export function limitsOf(pod: Pod): ResourceList {
  return podTotal(pod, containerLimits);
}

/** Where only a limit is given, it is the request too. */
export function containerRequests({ resources }: Container): ResourceList {
  return { ...resourceList(resources?.limits), ...resourceList(resources?.requests) };
}

export function containerLimits({ resources }: Container): ResourceList {
  return resourceList(resources?.limits);
}

export function resourceList(quantities: Readonly<Record<string, string>> = {}): ResourceList {
  return Object.fromEntries(Object.entries(quantities).map(([name, text]) => [name, parseQuantity(text) ?? 0]));
}

/** All of these together. One object is filled, because a busy node has hundreds of Pods and every waiting one asks. */
export function totalOf(all: readonly ResourceList[]): ResourceList {
  const result: Record<string, number> = {};
  for (const each of all) for (const name in each) result[name] = (result[name] ?? 0) + (each[name] ?? 0);
  return result;
}

/**
 * Containers and sidecars run side by side, so they add up; init containers run one by one beside the sidecars started
 * before them, so the largest moment counts.
 */
function podTotal({ spec }: Pod, ofContainer: (container: Container) => ResourceList): ResourceList {
  let sidecars: ResourceList = {};
  let largestInit: ResourceList = {};
  for (const container of spec.initContainers ?? []) {
    const own = ofContainer(container);
    if (container.restartPolicy === 'Always') {
      sidecars = totalOf([sidecars, own]);
      largestInit = largest(largestInit, sidecars);
    } else largestInit = largest(largestInit, totalOf([sidecars, own]));
  }
  const together = totalOf([sidecars, ...spec.containers.map(ofContainer)]);
  return totalOf([largest(together, largestInit), resourceList(spec.overhead)]);
}

function largest(a: ResourceList, b: ResourceList): ResourceList {
  const result: Record<string, number> = { ...a };
  for (const [name, amount] of Object.entries(b)) result[name] = Math.max(result[name] ?? 0, amount);
  return result;
}
