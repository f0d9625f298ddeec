/** How many machines were made through this virt-api, by the name and labels that KubeVirt publishes. */
import { VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { MetricCounter } from '../base/metrics.ts';

/** Whoever reaches the webhook may say what he likes: what is no namespace makes no series. */
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export class CreatedMachines extends MetricCounter {
  constructor() {
    super({ name: 'kubevirt_vm_created_by_pod_total', help: 'Machines that were made through this virt-api.' });
  }

  observe = (kind: string, namespace: string): void => {
    if (kind === VMS.kind && NAMESPACE.test(namespace)) this.add({ namespace });
  };
}
