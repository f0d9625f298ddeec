/** Shows what virt-controller knows: machines, instances, their moves, and how long starts take. */
import type { Pod } from '../../api/core/pod.ts';
import type { ClusterConfiguration } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import { evictionStrategyOf } from '../../api/kubevirt/draining.ts';
import type { VirtualMachineInstanceMigration } from '../../api/kubevirt/kinds/migration.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { currentLauncherNameOf } from '../../api/launcher/pod-name.ts';
import type { KubeObject } from '../../api/meta.ts';
import type { MetricFamilies } from '../../base/metrics.ts';
import type { Cache } from '../../client/cache.ts';
import type { FollowedConfiguration } from '../../client/follow-configuration.ts';
import { BY_CONTROLLER } from '../../reconcile/owner.ts';
import { isOutdated } from '../workload-update/is-outdated.ts';
import { MOVE_FAMILIES } from './migration-families.ts';
import { PhaseTransitions } from './phase-transitions.ts';
import { numberOfVms, VM_FAMILIES, VMI_FAMILIES } from './vm-families.ts';

export type ControllerMetricsOptions = {
  readonly metrics: MetricFamilies;
  readonly vms: Cache<VirtualMachine>;
  readonly vmis: Cache<VirtualMachineInstance>;
  readonly migrations: Cache<VirtualMachineInstanceMigration>;
  /** By their controllers. */
  readonly pods: Cache<Pod>;
  /** Of launchers that are made now. */
  readonly launcherImage: string;
  /** Machines that name no eviction strategy go by its own. */
  readonly configuration: FollowedConfiguration;
  readonly signal: AbortSignal;
};

/** Until the signal aborts: one that leads no longer says nothing of machines. */
export function addControllerMetrics({ metrics, vms, vmis, configuration, signal, ...ofMoves }: ControllerMetricsOptions): void {
  const shown = () => vmis.list().map((vmi) => withStrategy(vmi, configuration.current));
  addFamilies({ metrics, signal }, VM_FAMILIES, vms);
  addFamilies({ metrics, signal }, VMI_FAMILIES, { list: shown });
  const countVms = () => numberOfVms(vms.list());
  metrics.add({ name: 'kubevirt_number_of_vms', help: 'Machines in each namespace.', type: 'gauge', samples: countVms }, signal);
  addMoves({ metrics, vmis, shown, signal, ...ofMoves });
  const transitions = new PhaseTransitions();
  transitions.addTo(metrics, signal);
  const stop = vmis.subscribe((change) => {
    if (change.type === 'modified') transitions.observe(change.old, change.object);
  });
  signal.addEventListener('abort', stop, { once: true });
}

/** With the eviction strategy that holds for it. */
function withStrategy(vmi: VirtualMachineInstance, configuration: ClusterConfiguration): VirtualMachineInstance {
  const evictionStrategy = evictionStrategyOf(vmi, configuration);
  return evictionStrategy === 'None' || vmi.spec.evictionStrategy ? vmi : { ...vmi, spec: { ...vmi.spec, evictionStrategy } };
}

type OfMoves = Omit<ControllerMetricsOptions, 'vms' | 'configuration'> & { readonly shown: () => readonly VirtualMachineInstance[] };

function addMoves({ metrics, vmis, shown, migrations, pods, launcherImage, signal }: OfMoves): void {
  for (const { samplesOf, ...family } of MOVE_FAMILIES)
    metrics.add({ ...family, samples: () => samplesOf({ migrations: migrations.list(), vmis: shown() }) }, signal);
  const podOf = (vmi: VirtualMachineInstance) =>
    pods.byIndex(BY_CONTROLLER, vmi.metadata.uid ?? '').find(({ metadata }) => metadata.name === currentLauncherNameOf(vmi));
  const outdated = () => vmis.list().filter((vmi) => isOutdated({ vmi, pod: podOf(vmi) }, launcherImage)).length;
  const help = 'Instances that run in a launcher of an older installation.';
  metrics.add({ name: 'kubevirt_vmi_number_of_outdated', help, type: 'gauge', samples: () => [{ value: outdated() }] }, signal);
}

type Shown = Pick<ControllerMetricsOptions, 'metrics' | 'signal'>;

function addFamilies<T extends KubeObject>(
  { metrics, signal }: Shown,
  families: readonly { name: string; help: string; samplesOf: (object: T) => readonly { value: number }[] }[],
  cache: Pick<Cache<T>, 'list'>,
): void {
  for (const { samplesOf, ...family } of families)
    metrics.add({ ...family, type: 'gauge', samples: () => cache.list().flatMap((object) => samplesOf(object)) }, signal);
}
