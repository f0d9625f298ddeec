/** An instance type upon a template: what it says becomes part of the machine, and what the template says of the same is a conflict. Pure. */
import { formatBytes, parseQuantity } from '../../../base/quantity.ts';
import type { Domain, VmiSpec } from '../vmi-spec-schema.ts';
import type { Topology } from './cpu-topology.ts';
import type { InstancetypeSpec } from './instancetype-schema.ts';

/** Where the template says what is the instance type's to say, as paths below the spec of the template. */
export function conflictsWith({ cpu, memory, ...type }: InstancetypeSpec, { domain, ...spec }: VmiSpec): string[] {
  const ofCpu = domain.cpu as Record<string, unknown> | undefined; // with what is refused later, too
  const ofMemory = domain.memory as Record<string, unknown> | undefined;
  const ofDomain = domain as Record<string, unknown>;
  const devices = domain.devices as Record<string, unknown>;
  const { requests, limits } = domain.resources ?? {};
  const pairs: readonly (readonly [path: string, isSaid: boolean])[] = [
    ...['sockets', 'cores', 'threads'].map((part) => [`domain.cpu.${part}`, isSet(ofCpu?.[part])] as const),
    ['domain.cpu.model', isSet(cpu.model) && isSet(ofCpu?.['model'])],
    ['domain.cpu.dedicatedCpuPlacement', isSet(cpu.dedicatedCPUPlacement) && isSet(ofCpu?.['dedicatedCpuPlacement'])],
    ['domain.cpu.isolateEmulatorThread', isSet(cpu.isolateEmulatorThread) && isSet(ofCpu?.['isolateEmulatorThread'])],
    ['domain.cpu.numa', isSet(cpu.numa) && isSet(ofCpu?.['numa'])],
    ['domain.cpu.realtime', isSet(cpu.realtime) && isSet(ofCpu?.['realtime'])],
    ['domain.cpu.maxSockets', isSet(cpu.maxSockets) && isSet(ofCpu?.['maxSockets'])],
    ['domain.resources.requests.cpu', isSet(requests?.['cpu'])],
    ['domain.resources.limits.cpu', isSet(limits?.['cpu'])],
    ['domain.resources.requests.memory', isSet(requests?.['memory'])],
    ['domain.resources.limits.memory', isSet(limits?.['memory'])],
    ['domain.memory.guest', isSet(ofMemory?.['guest'])],
    ['domain.memory.hugepages', isSet(memory.hugepages) && isSet(ofMemory?.['hugepages'])],
    ['domain.memory.maxGuest', isSet(memory.maxGuest) && isSet(ofMemory?.['maxGuest'])],
    ['domain.ioThreadsPolicy', isSet(type.ioThreadsPolicy) && isSet(domain.ioThreadsPolicy)],
    ['domain.ioThreads', isSet(type.ioThreads) && isSet(ofDomain['ioThreads'])],
    ['domain.launchSecurity', isSet(type.launchSecurity) && isSet(ofDomain['launchSecurity'])],
    ['domain.devices.gpus', isSet(type.gpus) && isSet(devices['gpus'])],
    ['domain.devices.hostDevices', isSet(type.hostDevices) && isSet(devices['hostDevices'])],
    ['nodeSelector', isSet(type.nodeSelector) && isSet(spec.nodeSelector)],
    ['schedulerName', isSet(type.schedulerName) && isSet(spec.schedulerName)],
  ];
  return pairs.filter(([, isSaid]) => isSaid).map(([path]) => path);
}

/** The spec of the template with what the type says; without conflicts. */
export function applyInstancetype(type: InstancetypeSpec, spec: VmiSpec, topology: Topology): VmiSpec {
  const { cpu, memory, gpus, hostDevices, nodeSelector, schedulerName, ioThreadsPolicy, ioThreads, launchSecurity } = type;
  const { guest: _, dedicatedCPUPlacement, ...ofCpu } = cpu;
  const { guest, overcommitPercent, ...ofMemory } = memory;
  const { domain } = spec;
  const applied = {
    ...domain,
    cpu: { ...domain.cpu, ...ofCpu, ...(isSet(dedicatedCPUPlacement) && { dedicatedCpuPlacement: dedicatedCPUPlacement }), ...topology },
    memory: { ...domain.memory, ...ofMemory, guest },
    ...(overcommitPercent && { resources: withMemoryRequest(domain, lessBy(guest, overcommitPercent)) }),
    ...(isSet(ioThreadsPolicy) && { ioThreadsPolicy }),
    ...(isSet(ioThreads) && { ioThreads }),
    ...(isSet(launchSecurity) && { launchSecurity }),
    devices: { ...domain.devices, ...(isSet(gpus) && { gpus }), ...(isSet(hostDevices) && { hostDevices }) },
  } as Domain; // what is not honoured is refused by its path, as if the template said it
  return { ...spec, domain: applied, ...(isSet(nodeSelector) && { nodeSelector }), ...(isSet(schedulerName) && { schedulerName }) };
}

function withMemoryRequest({ resources }: Domain, memory: string): Domain['resources'] {
  return { ...resources, requests: { ...resources?.requests, memory } };
}

function lessBy(guest: string | number, percent: number): string {
  return formatBytes(Math.floor(((parseQuantity(guest) ?? 0) * (100 - percent)) / 100));
}

/** Said at all: the empty text and the empty list say nothing. */
function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  return true;
}
