/** What is shown of machines and instances, by the names and labels that KubeVirt publishes: made from the copies that virt-controller has anyway. */
import { CHOICES, type ChoiceName } from '../../api/kubevirt/instancetype/choices-table.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { currentLauncherNameOf } from '../../api/launcher/pod-name.ts';
import type { KubeObject } from '../../api/meta.ts';
import type { MetricFamily, MetricLabels, MetricSample } from '../../base/metrics.ts';
import { isEvictable } from './migration-families.ts';
import { STATUS_GROUPS, type StatusGroup, statusGroupOf } from './status-groups-table.ts';

/** What is known of an object elsewhere. */
export type Known = { readonly isOutdated: boolean };
export type SpecFamily<T> = Omit<MetricFamily, 'samples' | 'type'> & {
  readonly samplesOf: (object: T, known?: Known) => readonly MetricSample[];
};

const NONE = '<none>';

export const VM_FAMILIES: readonly SpecFamily<VirtualMachine>[] = [
  { name: 'kubevirt_vm_info', help: 'Machines, with what they are and do.', samplesOf: (vm) => [{ labels: vmLabels(vm), value: 1 }] },
  {
    name: 'kubevirt_vm_create_date_timestamp_seconds',
    help: 'When the machine was made.',
    samplesOf: (vm) => [{ labels: named(vm), value: seconds(vm.metadata.creationTimestamp) }],
  },
  ...STATUS_GROUPS.map((group) => statusFamily(group)),
];

export const VMI_FAMILIES: readonly SpecFamily<VirtualMachineInstance>[] = [
  {
    name: 'kubevirt_vmi_info',
    help: 'Instances, with what they are and do.',
    samplesOf: (vmi, known) => [{ labels: vmiLabels(vmi, known), value: 1 }],
  },
  {
    name: 'kubevirt_vmi_status_addresses',
    help: 'Addresses of instances.',
    samplesOf: (vmi) =>
      (vmi.status?.interfaces ?? []).flatMap(({ name = '', interfaceName = '', ipAddress }) => {
        const names = { network_name: name, vnic_name: name, interface_name: interfaceName };
        return ipAddress ? [{ labels: { ...placed(vmi), ...names, address: ipAddress, type: 'ExternalInterface' }, value: 1 }] : [];
      }),
  },
];

/** How many machines each namespace has. */
export function numberOfVms(vms: readonly VirtualMachine[]): MetricSample[] {
  const counts = new Map<string, number>();
  for (const { metadata } of vms) counts.set(metadata.namespace ?? '', (counts.get(metadata.namespace ?? '') ?? 0) + 1);
  return [...counts].map(([namespace, value]) => ({ labels: { namespace }, value }));
}

/** Since when the machine is in this state; 0 while it is in another. */
function statusFamily(group: StatusGroup): SpecFamily<VirtualMachine> {
  return {
    name: `kubevirt_vm_${group}_status_last_transition_timestamp_seconds`,
    help: `Since when the machine is ${group.replace('_', '-')}; 0 while it is not.`,
    samplesOf: (vm) => [{ labels: named(vm), value: statusGroupOf(statusOf(vm)) === group ? changedAt(vm) : 0 }],
  };
}

function vmLabels(vm: VirtualMachine): MetricLabels {
  const { annotations } = vm.spec.template.metadata ?? {};
  const status = statusOf(vm);
  return {
    ...named(vm),
    ...kindOf(annotations),
    machine_type: vm.spec.template.spec.domain.machine?.type ?? '',
    instance_type: vm.spec.instancetype?.name ?? NONE,
    preference: vm.spec.preference?.name ?? NONE,
    status: status.toLowerCase(),
    status_group: statusGroupOf(status),
  };
}

function vmiLabels(vmi: VirtualMachineInstance, { isOutdated }: Known = { isOutdated: false }): MetricLabels {
  const { annotations } = vmi.metadata;
  const { guestOSInfo: os = {}, phase = '', interfaces } = vmi.status ?? {};
  const chosen = (choice: ChoiceName) => CHOICES[choice].annotations.map((name) => annotations?.[name]).find(Boolean) ?? NONE;
  return {
    ...placed(vmi),
    address: interfaces?.map(({ ipAddress }) => ipAddress).find(Boolean) ?? '',
    phase: phase.toLowerCase(),
    ...kindOf(annotations),
    guest_os_kernel_release: os.kernelRelease ?? '',
    guest_os_machine: os.machine ?? '',
    guest_os_arch: os.machine ?? '',
    guest_os_name: os.name ?? '',
    guest_os_version_id: os.versionId ?? '',
    instance_type: chosen('instancetype'),
    preference: chosen('preference'),
    evictable: String(isEvictable(vmi)),
    outdated: String(isOutdated),
    vmi_pod: vmi.status?.nodeName === undefined ? '' : currentLauncherNameOf(vmi),
  };
}

/** What people say of a machine by annotations. */
function kindOf(annotations: Readonly<Record<string, string>> = {}): MetricLabels {
  const said = (what: string) => annotations[`vm.kubevirt.io/${what}`] ?? NONE;
  return { os: said('os'), workload: said('workload'), flavor: said('flavor') };
}

function named({ metadata }: KubeObject): MetricLabels {
  return { namespace: metadata.namespace ?? '', name: metadata.name };
}

function placed(vmi: VirtualMachineInstance): MetricLabels {
  return { node: vmi.status?.nodeName ?? '', ...named(vmi) };
}

function statusOf({ status }: VirtualMachine): string {
  return status?.printableStatus ?? 'Stopped';
}

/** The last change of a condition, or when it was made. */
function changedAt({ metadata, status }: VirtualMachine): number {
  const times = (status?.conditions ?? []).map(({ lastTransitionTime }) => seconds(lastTransitionTime));
  return Math.max(seconds(metadata.creationTimestamp), ...times);
}

function seconds(time: string | null | undefined): number {
  const ms = Date.parse(time ?? '');
  return Number.isNaN(ms) ? 0 : ms / 1000;
}
