/** The quality of service class that follows from a Pod's requests and limits. Pure. */
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
