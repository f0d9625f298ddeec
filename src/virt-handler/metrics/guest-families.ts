/** The families that a virt-handler shows of its guests, by the names, labels and units that KubeVirt publishes. */
import { guestMemoryBytesOf } from '../../api/kubevirt/vmi-size.ts';
import type { MetricFamilies, MetricFamily, MetricLabels, MetricSample } from '../../base/metrics.ts';
import type { DiskFigures, GuestMemory, NetworkFigures, ProcessFigures, VcpuFigures } from './guest-figures.ts';
import type { MeasuredGuest } from './guest-meter.ts';

type Family = Omit<MetricFamily, 'samples'> & {
  /** Of one guest, without the labels that all have. */
  readonly samplesOf: (guest: MeasuredGuest) => readonly MetricSample[];
};

const NANOSECONDS = 1e-9;

function one(value: number | undefined): readonly MetricSample[] {
  return value === undefined ? [] : [{ value }];
}

function process(name: string, help: string, of: (used: ProcessFigures) => number, type: 'counter' | 'gauge' = 'counter'): Family {
  return { name: `kubevirt_vmi_${name}`, help, type, samplesOf: ({ figures }) => one(figures.process && of(figures.process)) };
}

function memory(name: string, field: keyof GuestMemory, help: string, type: 'counter' | 'gauge' = 'gauge'): Family {
  return { name: `kubevirt_vmi_memory_${name}`, help, type, samplesOf: ({ figures }) => one(figures.memory[field]) };
}

function vcpu(name: string, help: string, of: (used: VcpuFigures) => number | undefined, hasState = false): Family {
  return {
    name: `kubevirt_vmi_vcpu_${name}seconds_total`,
    help,
    type: 'counter',
    samplesOf: ({ figures }) =>
      figures.vcpus.flatMap((each) => {
        const labels = { id: String(each.id), ...(hasState && { state: each.state }) };
        return one(of(each)).map((sample) => ({ ...sample, labels }));
      }),
  };
}

function fileSystem(name: string, field: 'usedBytes' | 'totalBytes', help: string): Family {
  return {
    name: `kubevirt_vmi_filesystem_${name}_bytes`,
    help,
    type: 'gauge',
    samplesOf: ({ figures }) =>
      figures.fileSystems.map((each) => ({
        labels: { disk_name: each.diskName, mount_point: each.mountPoint, file_system_type: each.fileSystemType },
        value: each[field],
      })),
  };
}

function disk(name: string, field: Exclude<keyof DiskFigures, 'disk'>, help: string): Family {
  const factor = field.endsWith('Nanoseconds') ? NANOSECONDS : 1;
  return {
    name: `kubevirt_vmi_storage_${name}`,
    help,
    type: 'counter',
    samplesOf: ({ figures }) => figures.disks.map((each) => ({ labels: { drive: each.disk }, value: each[field] * factor })),
  };
}

function network(name: string, field: Exclude<keyof NetworkFigures, 'network'>, help: string): Family {
  return {
    name: `kubevirt_vmi_network_${name}`,
    help,
    type: 'counter',
    samplesOf: ({ figures }) => figures.networks.map((each) => ({ labels: { interface: each.network }, value: each[field] })),
  };
}

const FAMILIES: readonly Family[] = [
  process('cpu_usage_seconds_total', 'Processor time of the machine, in seconds.', (used) => used.userSeconds + used.systemSeconds),
  process('cpu_user_usage_seconds_total', 'Processor time that was spent in user mode, in seconds.', (used) => used.userSeconds),
  process('cpu_system_usage_seconds_total', 'Processor time that was spent in system mode, in seconds.', (used) => used.systemSeconds),
  process('memory_resident_bytes', 'Memory of the node that the processes of the machine have.', (used) => used.residentBytes, 'gauge'),
  {
    name: 'kubevirt_vmi_memory_domain_bytes',
    help: 'Memory that the machine was given.',
    type: 'gauge',
    samplesOf: ({ vmi }) => one(guestMemoryBytesOf(vmi.spec)),
  },
  {
    name: 'kubevirt_vmi_memory_actual_balloon_bytes',
    help: 'Memory that the balloon leaves to the guest.',
    type: 'gauge',
    samplesOf: ({ figures }) => one(figures.balloonBytes),
  },
  memory('available_bytes', 'availableBytes', 'Memory as the guest sees it.'),
  memory('usable_bytes', 'usableBytes', 'Memory that the guest could use without swapping.'),
  memory('unused_bytes', 'unusedBytes', 'Memory that the guest does not use at all.'),
  memory('cached_bytes', 'cachedBytes', 'Memory of the guest that caches files.'),
  memory('swap_in_traffic_bytes', 'swapInBytes', 'What the guest has swapped in.'),
  memory('swap_out_traffic_bytes', 'swapOutBytes', 'What the guest has swapped out.'),
  memory('pgmajfault_total', 'majorFaults', 'Page faults of the guest that needed the disk.', 'counter'),
  memory('pgminfault_total', 'minorFaults', 'Page faults of the guest that needed no disk.', 'counter'),
  vcpu('', 'Processor time of each processor of the machine, and whether it works now.', ({ seconds }) => seconds, true),
  vcpu('wait_', 'Time that each processor of the machine has waited.', ({ waitSeconds }) => waitSeconds),
  vcpu('delay_', 'Time that each processor of the machine could have run, and others did.', ({ delaySeconds }) => delaySeconds),
  fileSystem('capacity', 'totalBytes', 'Size of a file system, as the guest says.'),
  fileSystem('used', 'usedBytes', 'What is used of a file system, as the guest says.'),
  disk('iops_read_total', 'reads', 'Reads of the disk.'),
  disk('iops_write_total', 'writes', 'Writes to the disk.'),
  disk('read_traffic_bytes_total', 'readBytes', 'What was read from the disk.'),
  disk('write_traffic_bytes_total', 'writtenBytes', 'What was written to the disk.'),
  disk('read_times_seconds_total', 'readNanoseconds', 'Time that reads have taken.'),
  disk('write_times_seconds_total', 'writeNanoseconds', 'Time that writes have taken.'),
  disk('flush_requests_total', 'flushes', 'Flushes of the disk.'),
  disk('flush_times_seconds_total', 'flushNanoseconds', 'Time that flushes have taken.'),
  network('receive_bytes_total', 'receivedBytes', 'What the guest says it has received.'),
  network('receive_packets_total', 'receivedPackets', 'Packets that the guest says it has received.'),
  network('receive_errors_total', 'receiveErrors', 'Errors that the guest says there were at receiving.'),
  network('receive_packets_dropped_total', 'receiveDrops', 'Received packets that the guest says it has dropped.'),
  network('transmit_bytes_total', 'sentBytes', 'What the guest says it has sent.'),
  network('transmit_packets_total', 'sentPackets', 'Packets that the guest says it has sent.'),
  network('transmit_errors_total', 'sendErrors', 'Errors that the guest says there were at sending.'),
  network('transmit_packets_dropped_total', 'sendDrops', 'Packets to be sent that the guest says it has dropped.'),
];

export type GuestFamiliesOptions = {
  readonly metrics: MetricFamilies;
  readonly nodeName: string;
  readonly figures: () => Promise<readonly MeasuredGuest[]>;
  readonly signal: AbortSignal;
};

/** Shows them until the signal aborts. All that are looked at at the same time are of one look at the guests. */
export function addGuestFamilies({ metrics, nodeName, figures, signal }: GuestFamiliesOptions): void {
  for (const { samplesOf, ...family } of FAMILIES) {
    const samples = async () => (await figures()).flatMap((guest) => withLabels(samplesOf(guest), labelsOf(guest, nodeName)));
    metrics.add({ ...family, samples }, signal);
  }
}

function labelsOf({ vmi: { metadata } }: MeasuredGuest, node: string): MetricLabels {
  return { node, namespace: metadata.namespace ?? '', name: metadata.name };
}

function withLabels(samples: readonly MetricSample[], common: MetricLabels): MetricSample[] {
  return samples.map(({ labels, ...sample }) => ({ ...sample, labels: { ...common, ...labels } }));
}
