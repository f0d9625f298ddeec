/** What a Pod asks of a node, as plain numbers: cores, bytes, pieces. */
import type { Container, Pod } from '../../api/core/pod.ts';
import { parseQuantity } from '../../base/quantity.ts';

export type ResourceList = Readonly<Record<string, number>>;

/**
 * Containers and sidecars run side by side, so they add up; init containers run one by one beside the sidecars started
 * before them, so the largest moment counts. Every Pod takes one of the node's `pods`.
 */
export function requestsOf(pod: Pod): ResourceList {
  let sidecars: ResourceList = {};
  let largestInit: ResourceList = {};
  for (const container of pod.spec.initContainers ?? []) {
    const own = containerRequests(container);
    if (container.restartPolicy === 'Always') {
      sidecars = totalOf([sidecars, own]);
      largestInit = largest(largestInit, sidecars);
    } else largestInit = largest(largestInit, totalOf([sidecars, own]));
  }
  const together = totalOf([sidecars, ...pod.spec.containers.map(containerRequests)]);
  return totalOf([largest(together, largestInit), resourceList(pod.spec.overhead), { pods: 1 }]);
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

/** Where only a limit is given, it is the request too. */
function containerRequests({ resources }: Container): ResourceList {
  return { ...resourceList(resources?.limits), ...resourceList(resources?.requests) };
}

function largest(a: ResourceList, b: ResourceList): ResourceList {
  const result: Record<string, number> = { ...a };
  for (const [name, amount] of Object.entries(b)) result[name] = Math.max(result[name] ?? 0, amount);
  return result;
}
