/** What follows from a Pod's requests and limits: its quality of service class, and who goes first when memory runs out. Pure. */
import type { Pod } from '../../api/core/pod.ts';
import { parseQuantity } from '../../base/quantity.ts';

/** Guaranteed when every container's cpu and memory limits equal its requests, BestEffort when none has any, else Burstable. */
export function qosClassOf({ spec }: Pod): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const all = [...(spec.initContainers ?? []), ...spec.containers].map(({ resources }) => resources ?? {});
  const isSet = (amounts: Readonly<Record<string, string>> = {}) =>
    ['cpu', 'memory'].some((name) => (parseQuantity(amounts[name] ?? '0') ?? 0) > 0);
  if (!all.some(({ requests, limits }) => isSet(requests) || isSet(limits))) return 'BestEffort';
  const isGuaranteed = all.every(({ requests = {}, limits = {} }) =>
    ['cpu', 'memory'].every((name) => {
      const limit = parseQuantity(limits[name] ?? '0') ?? 0;
      return limit > 0 && limit === parseQuantity(requests[name] ?? limits[name] ?? '0');
    }),
  );
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}

/** The kernel's oom_score_adj: upstream's rule, but never below our own 0, so that a guest goes before the agent of all guests. */
export function oomScoreOf(pod: Pod, capacityBytes: number): number {
  switch (qosClassOf(pod)) {
    case 'BestEffort':
      return 1000;
    case 'Guaranteed':
      return 2;
    case 'Burstable': {
      const requested = pod.spec.containers.reduce(
        (sum, { resources }) => sum + (parseQuantity(resources?.requests?.['memory'] ?? '0') ?? 0),
        0,
      );
      return Math.min(999, Math.max(3, Math.round(1000 - (1000 * requested) / capacityBytes)));
    }
  }
}
