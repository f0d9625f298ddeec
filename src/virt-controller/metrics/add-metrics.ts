/** Shows what virt-controller knows: machines, instances, their disks, snapshots and moves, and how long starts take. */
import type { Pod } from '../../api/core/pod.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import type { ClusterConfiguration } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import { evictionStrategyOf } from '../../api/kubevirt/draining.ts';
import type { VirtualMachineInstanceMigration } from '../../api/kubevirt/kinds/migration.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { VirtualMachineSnapshot } from '../../api/kubevirt/kinds/vm-snapshot.ts';
import { currentLauncherNameOf } from '../../api/launcher/pod-name.ts';
import type { KubeObject } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { MetricFamilies } from '../../base/metrics.ts';
import type { Cache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import type { FollowedConfiguration } from '../../client/follow-configuration.ts';
import { BY_CONTROLLER } from '../../reconcile/owner.ts';
import { launcherOverheadBytes } from '../vmi/launcher-resources.ts';
import { isOutdated } from '../workload-update/is-outdated.ts';
import { allocatedDisks, VM_NIC_FAMILY, VMI_NIC_FAMILY } from './device-families.ts';
import { MOVE_FAMILIES } from './migration-families.ts';
import { PhaseTransitions } from './phase-transitions.ts';
import { RESOURCE_FAMILIES } from './resource-families.ts';
import { type Known, numberOfVms, type SpecFamily, VM_FAMILIES, VMI_FAMILIES } from './vm-families.ts';
import { vmLabelsFamily } from './vm-labels.ts';

export type ControllerMetricsOptions = {
  readonly metrics: MetricFamilies;
  readonly vms: Cache<VirtualMachine>;
  readonly vmis: Cache<VirtualMachineInstance>;
  readonly migrations: Cache<VirtualMachineInstanceMigration>;
  /** Their sizes and modes at least. */
  readonly claims: Cache<PersistentVolumeClaim>;
  readonly snapshots: Cache<VirtualMachineSnapshot>;
  /** By their controllers. */
  readonly pods: Cache<Pod>;
  /** Of launchers that are made now. */
  readonly launcherImage: string;
  /** Machines that name no eviction strategy go by its own. */
  readonly configuration: Pick<FollowedConfiguration, 'current'>;
  readonly client: Client;
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

/** Until the signal aborts: one that leads no longer says nothing of machines. */
export function addControllerMetrics(options: ControllerMetricsOptions): void {
  const { metrics, vms, vmis, configuration, client, clock, signal } = options;
  const shown = { list: () => vmis.list().map((vmi) => withStrategy(vmi, configuration.current)) };
  addFamilies({ metrics, signal }, [...VM_FAMILIES, ...RESOURCE_FAMILIES, VM_NIC_FAMILY], vms);
  addFamilies({ metrics, signal }, [...VMI_FAMILIES, VMI_NIC_FAMILY], shown, (vmi) => ({ isOutdated: isOld(vmi, options) }));
  const countVms = () => numberOfVms(vms.list());
  metrics.add({ name: 'kubevirt_number_of_vms', help: 'Machines in each namespace.', type: 'gauge', samples: countVms }, signal);
  metrics.add(vmLabelsFamily({ client, clock, vms }), signal);
  addDisks(options);
  addConfigured(options);
  addMoves(options, shown);
  const transitions = new PhaseTransitions();
  transitions.addTo(metrics, signal);
  const stop = vmis.subscribe((change) => {
    if (change.type === 'modified') transitions.observe(change.old, change.object);
  });
  signal.addEventListener('abort', stop, { once: true });
}

/** How large disks are, and of when snapshots of them are. */
function addDisks({ metrics, vms, claims, snapshots, signal }: ControllerMetricsOptions): void {
  const sizes = () => vms.list().flatMap((vm) => allocatedDisks(vm, (key) => claims.get(key)));
  const help = 'How large a PVC of the machine is to be.';
  metrics.add({ name: 'kubevirt_vm_disk_allocated_size_bytes', help, type: 'gauge', samples: sizes }, signal);
  const kept = () =>
    snapshots.list().flatMap(({ metadata: { namespace = '', name }, spec, status }) => {
      const value = Date.parse(status?.creationTime ?? '') / 1000;
      const labels = { namespace, name: spec.source.name, snapshot_name: name };
      return status?.phase === 'Succeeded' && !Number.isNaN(value) ? [{ labels, value }] : [];
    });
  const ofWhen = 'The moment that a snapshot is of, which succeeded.';
  metrics.add({ name: 'kubevirt_vmsnapshot_succeeded_timestamp_seconds', help: ofWhen, type: 'gauge', samples: kept }, signal);
}

/** What follows from the configuration of the installation. */
function addConfigured({ metrics, vmis, configuration, signal }: ControllerMetricsOptions): void {
  const emulated = () => Number(configuration.current.isEmulated);
  metrics.gauge('kubevirt_configuration_emulation_enabled', 'Whether guests run without KVM, also where a node has it.', emulated, signal);
  const overheads = () =>
    vmis.list().map(({ metadata: { namespace = '', name }, spec }) => ({
      labels: { namespace, name },
      value: launcherOverheadBytes(spec, configuration.current),
    }));
  const help = 'Memory that is set aside for a launcher beside that of its guest.';
  metrics.add({ name: 'kubevirt_vmi_launcher_memory_overhead_bytes', help, type: 'gauge', samples: overheads }, signal);
}

type Vmis = Pick<Cache<VirtualMachineInstance>, 'list'>;

/** With the eviction strategy that holds for it. */
function withStrategy(vmi: VirtualMachineInstance, configuration: ClusterConfiguration): VirtualMachineInstance {
  const evictionStrategy = evictionStrategyOf(vmi, configuration);
  return evictionStrategy === 'None' || vmi.spec.evictionStrategy ? vmi : { ...vmi, spec: { ...vmi.spec, evictionStrategy } };
}

function addMoves({ metrics, migrations, pods, launcherImage, signal }: ControllerMetricsOptions, vmis: Vmis): void {
  for (const { samplesOf, ...family } of MOVE_FAMILIES)
    metrics.add({ ...family, samples: () => samplesOf({ migrations: migrations.list(), vmis: vmis.list() }) }, signal);
  const outdated = () => vmis.list().filter((vmi) => isOld(vmi, { pods, launcherImage })).length;
  const help = 'Instances that run in a launcher of an older installation.';
  metrics.add({ name: 'kubevirt_vmi_number_of_outdated', help, type: 'gauge', samples: () => [{ value: outdated() }] }, signal);
}

type Shown = Pick<ControllerMetricsOptions, 'metrics' | 'signal'>;

function addFamilies<T extends KubeObject>(
  { metrics, signal }: Shown,
  families: readonly SpecFamily<T>[],
  cache: Pick<Cache<T>, 'list'>,
  knownOf?: (object: T) => Known,
): void {
  for (const { samplesOf, ...family } of families) {
    const samples = () => cache.list().flatMap((object) => samplesOf(object, knownOf?.(object)));
    metrics.add({ ...family, type: 'gauge', samples }, signal);
  }
}

/** Whether it runs in a launcher of an older installation. */
function isOld(vmi: VirtualMachineInstance, { pods, launcherImage }: Pick<ControllerMetricsOptions, 'pods' | 'launcherImage'>): boolean {
  const ofInstance = pods.byIndex(BY_CONTROLLER, vmi.metadata.uid ?? '');
  return isOutdated({ vmi, pod: ofInstance.find(({ metadata }) => metadata.name === currentLauncherNameOf(vmi)) }, launcherImage);
}
