/** Shows what virt-controller knows: machines, instances, and how long starts take. */
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { KubeObject } from '../../api/meta.ts';
import type { MetricFamilies } from '../../base/metrics.ts';
import type { Cache } from '../../client/cache.ts';
import { PhaseTransitions } from './phase-transitions.ts';
import { numberOfVms, VM_FAMILIES, VMI_FAMILIES } from './vm-families.ts';

export type ControllerMetricsOptions = {
  readonly metrics: MetricFamilies;
  readonly vms: Cache<VirtualMachine>;
  readonly vmis: Cache<VirtualMachineInstance>;
  readonly signal: AbortSignal;
};

/** Until the signal aborts: one that leads no longer says nothing of machines. */
export function addControllerMetrics({ metrics, vms, vmis, signal }: ControllerMetricsOptions): void {
  addFamilies({ metrics, signal }, VM_FAMILIES, vms);
  addFamilies({ metrics, signal }, VMI_FAMILIES, vmis);
  const countVms = () => numberOfVms(vms.list());
  metrics.add({ name: 'kubevirt_number_of_vms', help: 'Machines in each namespace.', type: 'gauge', samples: countVms }, signal);
  const transitions = new PhaseTransitions();
  transitions.addTo(metrics, signal);
  const stop = vmis.subscribe((change) => {
    if (change.type === 'modified') transitions.observe(change.old, change.object);
  });
  signal.addEventListener('abort', stop, { once: true });
}

type Shown = Pick<ControllerMetricsOptions, 'metrics' | 'signal'>;

function addFamilies<T extends KubeObject>(
  { metrics, signal }: Shown,
  families: readonly { name: string; help: string; samplesOf: (object: T) => readonly { value: number }[] }[],
  cache: Cache<T>,
): void {
  for (const { samplesOf, ...family } of families)
    metrics.add({ ...family, type: 'gauge', samples: () => cache.list().flatMap((object) => samplesOf(object)) }, signal);
}
