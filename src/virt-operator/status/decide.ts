/**
 * Keeps the status of the KubeVirt object true. The rules:
 *
 *   it is being deleted and has no finalizer of ours    nothing: it goes by itself
 *   its status says what is the case                    nothing
 *   otherwise                                           patch the status
 */
import type { KubeVirt } from '../../api/kubevirt/kinds/kubevirt.ts';
import { isDeleting, refOf } from '../../api/meta.ts';
import { deepEqual } from '../../base/json.ts';
import { type Decision, nothingToDo } from '../../reconcile/decision.ts';
import { deriveKubeVirtStatus, type Installation } from './status.ts';

export type ObservedInstallation = { readonly kubeVirt: KubeVirt; readonly installation: Installation };

/** Decides about the status of one installation. */
export function decideKubeVirtStatus({ kubeVirt, installation }: ObservedInstallation): Decision {
  if (isDeleting(kubeVirt) && installation.stage !== 'deleting') return nothingToDo;
  const status = deriveKubeVirtStatus(kubeVirt, installation);
  if (deepEqual(kubeVirt.status, status)) return nothingToDo;
  const because = `the installation is ${installation.stage}`;
  return {
    actions: [
      {
        do: 'patch',
        target: refOf(kubeVirt),
        patch: { status },
        subresource: 'status',
        resourceVersion: kubeVirt.metadata.resourceVersion,
        because,
      },
    ],
  };
}
