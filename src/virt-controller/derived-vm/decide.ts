/**
 * What should happen to a machine that vmctl derived, given the Pod it belongs to. vmctl removes it when it is asked to end; this is for
 * a vmctl that was killed, or whose node is gone, where no owner reference helps: across namespaces there is none, and a Pod that has
 * ended stays as an object.
 *
 *   its Pod                        then
 *   is there and has not ended     look again later
 *   has ended                      delete the machine
 *   is gone, or is another one     delete the machine
 *   is not said                    leave it: nobody knows whose it is
 *
 * Pure.
 */
import { isPodFinal, type Pod } from '../../api/core/pod.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { ANNOTATION_VMCTL_POD, LABEL_VMCTL_POD_UID } from '../../api/kubevirt/names.ts';
import { isDeleting, type KubeObject, refOf } from '../../api/meta.ts';
import { type Decision, nothingToDo } from '../../reconcile/decision.ts';

export type ObservedDerivedVm = {
  readonly vm: VirtualMachine;
  /** What has the name of its Pod now. */
  readonly pod: Pod | undefined;
};

/** Pods are many and these machines few: their Pods are asked for, not watched. */
const LOOK_EVERY_MS = 30_000;

/** The rules above, for one machine. */
export function decideDerivedVm({ vm, pod }: ObservedDerivedVm): Decision {
  const key = podKeyOf(vm);
  if (key === undefined || isDeleting(vm)) return nothingToDo;
  const isSame = pod !== undefined && pod.metadata.uid === vm.metadata.labels?.[LABEL_VMCTL_POD_UID];
  if (isSame && !isPodFinal(pod)) return { actions: [], lookAgainAfterMs: LOOK_EVERY_MS };
  const because = isSame ? `its vmctl Pod ${key} has ${pod.status?.phase}` : `its vmctl Pod ${key} is gone`;
  const event = { type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted the virtual machine: ${because}` } as const;
  return { actions: [{ do: 'delete', target: refOf(vm), because, event }] };
}

/** `namespace/name` of the Pod that a derived machine belongs to; undefined for every other machine. */
export function podKeyOf({ metadata }: KubeObject): string | undefined {
  if (!metadata.labels?.[LABEL_VMCTL_POD_UID]) return undefined;
  const key = metadata.annotations?.[ANNOTATION_VMCTL_POD];
  return key !== undefined && /^[^/]+\/[^/]+$/.test(key) ? key : undefined;
}
