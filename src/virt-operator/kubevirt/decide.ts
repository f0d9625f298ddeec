/**
 * Keeps an installation as its KubeVirt object says. The rules:
 *
 *   it is being deleted, our finalizer is gone      nothing
 *   it is being deleted: see decide-removal.ts
 *   another KubeVirt is older                       nothing: one installation in a cluster
 *   our finalizer is missing                        add it
 *   the cluster is of an unsupported version        say so in the status
 *   an object is missing or says something else     apply it; webhooks and the aggregated API only when virt-api works for the first time
 *   an object of ours is no longer wanted           delete it
 *   the status is not true                          patch it: before anything else when not all is ready, so that nobody takes the old one for the
 *                                                   word of an operator that has just been replaced
 */
import type { KubeVirt } from '../../api/kubevirt/kinds/kubevirt.ts';
import { isDeleting, type Ref, refOf } from '../../api/meta.ts';
import { type Action, type Decision, nothingToDo } from '../../reconcile/decision.ts';
import { decideKubeVirtStatus } from '../status/decide.ts';
import type { Problem } from '../status/status.ts';
import { decideRemoval } from './decide-removal.ts';
import type { InstallationObserved } from './observed.ts';

/** As KubeVirt calls it. */
export const FINALIZER = 'foregroundDeleteKubeVirt';

export function decideInstallation(observed: InstallationObserved): Decision {
  const { kubeVirt, isTheOne, unsupported, lookAgainAfterMs } = observed;
  const finalizers = kubeVirt.metadata.finalizers ?? [];
  if (isDeleting(kubeVirt)) return finalizers.includes(FINALIZER) ? decideRemoval(observed, withoutFinalizer(kubeVirt)) : nothingToDo;
  if (!isTheOne) return nothingToDo;
  if (!finalizers.includes(FINALIZER))
    return { actions: [finalizersAre(kubeVirt, [...finalizers, FINALIZER], 'its installation is ours')] };
  if (unsupported) return { ...status(observed, unsupported), lookAgainAfterMs };
  const changes = [...put(observed), ...observed.surplus.map((each) => remove(refOf(each), 'it is no longer wanted'))];
  const { actions: told } = status(observed, observed.problem);
  return { actions: observed.installation.stage === 'ready' ? [...changes, ...told] : [...told, ...changes], lookAgainAfterMs };
}

function put({ pairings, isVirtApiWorking }: InstallationObserved): Action[] {
  return pairings
    .filter(({ isStored, isCurrent, needsVirtApi }) => !isCurrent && (isStored || !needsVirtApi || isVirtApiWorking))
    .map(({ desired, isStored }) => ({
      do: 'apply',
      object: desired,
      because: isStored ? 'it says something else than is wanted' : 'it is missing',
    }));
}

function status({ kubeVirt, installation }: InstallationObserved, problem: Problem | undefined): Decision {
  return decideKubeVirtStatus({ kubeVirt, installation: { ...installation, problem } });
}

function remove(target: Ref, because: string): Action {
  return { do: 'delete', target, because };
}

function finalizersAre(kubeVirt: KubeVirt, finalizers: readonly string[], because: string): Action {
  const { resourceVersion } = kubeVirt.metadata;
  return { do: 'patch', target: refOf(kubeVirt), patch: { metadata: { finalizers } }, resourceVersion, because };
}

function withoutFinalizer(kubeVirt: KubeVirt): Action {
  const left = (kubeVirt.metadata.finalizers ?? []).filter((each) => each !== FINALIZER);
  return finalizersAre(kubeVirt, left, 'nothing of its installation is left');
}
