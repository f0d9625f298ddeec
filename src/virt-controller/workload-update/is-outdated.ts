/** Whether the guest of an instance runs in a Pod of another image than new ones get. Pure. */
import type { Pod } from '../../api/core/pod.ts';
import { isFinal, type VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { COMPUTE_CONTAINER } from '../../api/launcher/compute.ts';
import { isDeleting } from '../../api/meta.ts';

type Machine = {
  readonly vmi: VirtualMachineInstance;
  /** That its guest is in. */
  readonly pod?: Pod | undefined;
};

export function isOutdated({ vmi, pod }: Machine, image: string): boolean {
  const compute = pod?.spec.containers.find(({ name }) => name === COMPUTE_CONTAINER);
  return vmi.status?.phase === 'Running' && !isFinal(vmi) && !isDeleting(vmi) && compute !== undefined && compute.image !== image;
}
