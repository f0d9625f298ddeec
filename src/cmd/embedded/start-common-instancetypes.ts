/** The instance types and preferences that an embedded cluster has from its first moment: a machine that names one may be made at once. */
import { KUBEVIRTS } from '../../api/kubevirt/kinds/kubevirt.ts';
import { startCache } from '../../client/cache.ts';
import { type CommonInstancetypesOptions, runCommonInstancetypes } from '../../virt-operator/common-instancetypes/controller.ts';

/** A start waits no longer for them; they are tried again in any case. */
const PATIENCE_MS = 5_000;

/** Resolves when they are there, to what resolves when the signal has ended their keeping. */
export async function startCommonInstancetypes(
  options: Omit<CommonInstancetypesOptions, 'kubeVirts' | 'onKept'>,
): Promise<{ stopped: Promise<void> }> {
  const kept = Promise.withResolvers<void>();
  const waited = new AbortController();
  const kubeVirts = startCache({ ...options, resource: KUBEVIRTS });
  const stopped = runCommonInstancetypes({ ...options, kubeVirts, onKept: kept.resolve });
  await Promise.race([kept.promise, stopped, options.clock.sleep(PATIENCE_MS, AbortSignal.any([options.signal, waited.signal]))]);
  waited.abort();
  return { stopped };
}
