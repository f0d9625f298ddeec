/**
 * What an instance is given that its author left open, so that everybody reads one answer from the object:
 *
 *   old spellings             today's words, and a disk for every volume
 *   architecture              amd64
 *   machine.type              that of the installation, else q35
 *   resources                 a cpu request as large as the limit, when there is a limit alone, else that of the installation
 *   memory.guest              memory request, else limit
 *   cpu                       sockets from the cpu limit or request, when no part of the topology is given; model of the installation, else host-model
 *   features, clock, inputs   see default-board.ts
 *   disks                     a target of kind disk, bus sata; CD-ROMs read-only, their tray closed
 *   containerDisk             imagePullPolicy by tag
 *   networks, interfaces      one card on the Pod network, unless that is switched off
 *   probes                    answers within 1 s, every 10 s; one yes is a yes, three noes are a no
 *   evictionStrategy          that of the installation
 *   logSerialConsole          false, where the installation wants no logs
 *   firmware.uuid             that of the old object, or a new one
 *   finalizers                ours
 *   status                    see default-vmi-status.ts
 *
 * It runs before the schema is checked: what has another shape than expected is left for the schema to refuse.
 */

import { type ClusterConfiguration, DEFAULT_CONFIGURATION } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import { FINALIZER_VMI } from '../../api/kubevirt/names.ts';
import { normaliseVmiSpec } from '../../api/kubevirt/normalise-vmi-spec.ts';
import { MOST_CPUS } from '../../api/kubevirt/vmi-size.ts';
import { defaultVolume } from '../../api/kubevirt/volumes/source-of.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import { parseQuantity } from '../../base/quantity.ts';
import { GUEST_MEMORY_BYTES } from '../../qemu/convert/limits.ts';
import { defaultBoard, defaultExtras, neededCpuFeatures } from './default-board.ts';
import { isVmiSpecShaped, type ShapedVmiSpec } from './vm-shape.ts';

/** What an instance cannot know by itself. */
export type Defaults = { readonly newUuid: string; readonly configuration?: ClusterConfiguration };

/** The instance with everything filled in; the same object when there is nothing to do. */
export function defaultVmi(vmi: JsonObject, options: Defaults): JsonObject {
  const { spec } = vmi;
  const metadata = isObject(vmi['metadata']) ? vmi['metadata'] : {};
  const finalizers = Array.isArray(metadata['finalizers']) ? metadata['finalizers'] : [];
  const held = finalizers.includes(FINALIZER_VMI) ? finalizers : [...finalizers, FINALIZER_VMI];
  const filled = isObject(spec) ? defaultVmiSpec(spec, options) : spec;
  return { ...vmi, metadata: { ...metadata, finalizers: held }, spec: filled };
}

/** The spec with everything filled in. */
export function defaultVmiSpec(spec: JsonObject, { newUuid, configuration = DEFAULT_CONFIGURATION }: Defaults): JsonObject {
  if (!isVmiSpecShaped(spec)) return spec;
  const normal = normaliseVmiSpec(spec) as unknown as ShapedVmiSpec; // same shape, today's words
  const { domain } = normal;
  const firmware = record(domain['firmware']);
  const machine = record(domain['machine']);
  return {
    ...normal,
    architecture: spec['architecture'] || 'amd64',
    ...defaultNetwork(normal),
    ...defaultProbes(spec),
    ...(configuration.evictionStrategy && { evictionStrategy: spec['evictionStrategy'] || configuration.evictionStrategy }),
    ...(normal.volumes && { volumes: normal.volumes.map(defaultVolume) }),
    domain: {
      ...domain,
      ...defaultBoard(domain),
      ...defaultResources(domain, configuration),
      machine: { ...machine, type: machine['type'] || configuration.machineType },
      cpu: defaultCpu(domain, configuration),
      ...defaultMemory(domain),
      firmware: { ...firmware, uuid: firmware['uuid'] || newUuid },
      devices: {
        ...domain.devices,
        ...defaultExtras(domain.devices),
        ...(configuration.isSerialLogOff && { logSerialConsole: domain.devices['logSerialConsole'] ?? false }),
        ...(domain.devices.disks && { disks: domain.devices.disks.map(defaultDisk) }),
        ...defaultInterface(normal),
      },
    },
  };
}

function record(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function defaultResources({ resources, cpu }: JsonObject, { cpuRequest }: ClusterConfiguration): JsonObject {
  const isDedicated = isObject(cpu) && cpu['dedicatedCpuPlacement'] === true;
  const limit = amountOf(resources, 'limits', 'cpu') ?? (isDedicated ? undefined : cpuRequest);
  const { requests } = record(resources);
  if (
    (resources !== undefined && !isObject(resources)) ||
    limit === undefined ||
    (requests !== undefined && !isObject(requests)) ||
    record(requests)['cpu'] !== undefined
  )
    return {};
  return { resources: { ...record(resources), requests: { ...requests, cpu: limit } } };
}

function defaultCpu(domain: JsonObject, { cpuModel }: ClusterConfiguration): unknown {
  const { cpu, resources } = domain;
  if (cpu !== undefined && !isObject(cpu)) return cpu;
  const { cores, sockets, threads, model } = record(cpu);
  const isGiven = cores || sockets || threads;
  const asked = amountOf(resources, 'limits', 'cpu') ?? amountOf(resources, 'requests', 'cpu');
  const number = asked === undefined ? 1 : Math.ceil(parseQuantity(asked) ?? 1);
  const topology = isGiven ? {} : { cores: 1, sockets: number >= 1 ? Math.min(number, MOST_CPUS) : 1, threads: 1 };
  return { ...record(cpu), ...topology, model: model || cpuModel, ...neededCpuFeatures(domain, cpu?.['features']) };
}

function defaultMemory({ memory, resources }: JsonObject): JsonObject {
  if (memory !== undefined && !isObject(memory)) return {};
  const { guest } = record(memory);
  const asked = amountOf(resources, 'requests', 'memory') ?? amountOf(resources, 'limits', 'memory');
  const amount = guest ?? (isOfGuests(asked) ? asked : undefined);
  return amount === undefined ? {} : { memory: { ...record(memory), guest: amount } };
}

/** A Pod may ask for more than a guest can have, and wait for a node that has it. */
function isOfGuests(asked: string | number | undefined): boolean {
  return !(asked !== undefined && (parseQuantity(asked) ?? 0) > GUEST_MEMORY_BYTES.most);
}

function amountOf(resources: unknown, kind: 'requests' | 'limits', name: string): string | number | undefined {
  const amount = record(record(resources)[kind])[name];
  return typeof amount === 'string' || typeof amount === 'number' ? amount : undefined;
}

function defaultDisk(disk: JsonObject): JsonObject {
  const { cdrom, lun } = disk;
  if (isObject(cdrom))
    return {
      ...disk,
      cdrom: { ...cdrom, bus: cdrom['bus'] || 'sata', readonly: cdrom['readonly'] ?? true, tray: cdrom['tray'] || 'closed' },
    };
  if (lun !== undefined || cdrom !== undefined || (disk['disk'] !== undefined && !isObject(disk['disk']))) return disk;
  const target = record(disk['disk']);
  return { ...disk, disk: { ...target, bus: target['bus'] || 'sata' } };
}

const PROBE = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };

/** A zero says nothing, as for Pods. */
function defaultProbes(spec: JsonObject): JsonObject {
  const probes = ['readinessProbe', 'livenessProbe'].flatMap((name) => {
    const probe = spec[name];
    if (!isObject(probe)) return [];
    const filled = Object.entries(PROBE).map(([field, value]) => [field, probe[field] || value] as const);
    return [[name, { ...probe, ...Object.fromEntries(filled) }] as const];
  });
  return Object.fromEntries(probes);
}

function hasOwnNetwork({ networks, domain }: ShapedVmiSpec): boolean {
  const { interfaces, autoattachPodInterface } = domain.devices;
  return Boolean(networks?.length || interfaces?.length) || autoattachPodInterface === false;
}

function defaultNetwork(spec: ShapedVmiSpec): JsonObject {
  return hasOwnNetwork(spec) ? {} : { networks: [{ name: 'default', pod: {} }] };
}

/** Masquerade, not the bridge of upstream: the engine puts every guest behind the address of its Pod. */
function defaultInterface(spec: ShapedVmiSpec): JsonObject {
  return hasOwnNetwork(spec) ? {} : { interfaces: [{ name: 'default', masquerade: {} }] };
}
