/**
 * Keeps the status of the KubeVirt object true. The rules:
 *
 *   it is being deleted and has no finalizer of ours    nothing: it goes by itself
 *   its configuration is good and not kept yet          keep it: it stays in force when a later one contradicts itself
 *   its status says what is the case                    nothing
 *   otherwise                                           patch the status
 */
import { ANNOTATION_GOOD_CONFIGURATION, newGoodConfiguration } from '../../api/kubevirt/configuration/good-configuration.ts';
import type { KubeVirt } from '../../api/kubevirt/kinds/kubevirt.ts';
import { isDeleting, refOf } from '../../api/meta.ts';
import { deepEqual } from '../../base/json.ts';
import { type Decision, nothingToDo } from '../../reconcile/decision.ts';
import { deriveKubeVirtStatus, type Installation } from './status.ts';

export type ObservedInstallation = { readonly kubeVirt: KubeVirt; readonly installation: Installation };

/** Decides about the status of one installation. */
export function decideKubeVirtStatus({ kubeVirt, installation }: ObservedInstallation): Decision {
  if (isDeleting(kubeVirt) && installation.stage !== 'deleting') return nothingToDo;
  const good = newGoodConfiguration(kubeVirt);
  if (good !== undefined)
    return {
      actions: [
        {
          do: 'patch',
          target: refOf(kubeVirt),
          patch: { metadata: { annotations: { [ANNOTATION_GOOD_CONFIGURATION]: good } } },
          resourceVersion: kubeVirt.metadata.resourceVersion,
          because: 'its configuration is good',
        },
      ],
    };
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
