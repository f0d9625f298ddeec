/** The board: machine type, processors, memory, clock, and what the guest can read about its identity. */

import { MOST_CPUS } from '../../api/kubevirt/vmi-size.ts';
import type { Domain, VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import type { MachineSettings } from '../../api/launcher/machine-settings.ts';
import { parseQuantity } from '../../base/quantity.ts';
import { clockBase } from './clock-base.ts';
import { cpuFlags } from './cpu-flags.ts';
import type { ConvertInput } from './input.ts';
import { CPU_MODEL, GUEST_MEMORY_BYTES, MACHINE_TYPE, UUID } from './limits.ts';
import type { Board } from './machine-model.ts';
import { matching, printable, specError } from './option-text.ts';

/**
 * TCG keeps the code it translated, by default up to 1 GiB for each guest. Measured with a 128 MiB guest to "ready", three runs each:
 * 16 MiB: 4.0-4.6 CPU s, 158 MB in all; 32 MiB: 3.1-3.3 s, 176 MB; 64 MiB and more: 3.0-3.4 s, 205 MB. So 32 is enough for a small guest.
 * Larger guests run more code and were not measured: they get room to spare. QEMU divides it among the processors, in parts of 2 MiB.
 */
const TCG_CACHE_MIB = { small: 32, large: 128, perCpu: 4 } as const;
const CHASSIS_WORDS = ['manufacturer', 'version', 'serial', 'asset', 'sku'] as const;
const SYSTEM_WORDS = ['manufacturer', 'product', 'version', 'sku', 'family'] as const;
/** QEMU rounds a size up to this, and wants memory that somebody else made to have it. */
const SHARED_STEP_BYTES = 8192;
const SMALL_GUEST_BYTES = 512 * 2 ** 20;

/** The board that an instance asks for, on this host. */
export function boardOf({ vmi, host, settings, files }: ConvertInput): Board {
  const { domain } = vmi.spec;
  const sizeBytes = memoryBytes(vmi.spec);
  const cpus = topology(vmi.spec);
  const isMemoryShared = (domain.devices.filesystems?.length ?? 0) > 0;
  const { serial } = domain.firmware ?? {};
  const uuid = machineUuid(vmi);
  const args = domain.firmware?.kernelBoot?.kernelArgs;
  return {
    type: machineType(vmi.spec),
    switches: boardSwitches(domain),
    accelerator: host.accel === 'kvm' ? { kind: 'kvm' } : { kind: 'tcg', cacheMib: translationCacheMib(sizeBytes, cpus.cpus) },
    processor: { model: cpuModel(vmi.spec, host.accel), flags: cpuFlags(domain, host.accel) },
    topology: cpus,
    memoryKib: isMemoryShared ? Math.ceil(sizeBytes / SHARED_STEP_BYTES) * (SHARED_STEP_BYTES / 1024) : Math.ceil(sizeBytes / 1024),
    ...(isMemoryShared && { isMemoryShared }),
    clock: clock(domain, host),
    ...(files.boot && { boot: { ...files.boot, ...(args && { args: printable(args, 'spec.domain.firmware.kernelBoot.kernelArgs') }) } }),
    name: printable(`${vmi.metadata.namespace ?? 'default'}_${vmi.metadata.name}`, 'metadata.name'),
    ...(uuid && { uuid }),
    ...(serial && { serial: printable(serial, 'spec.domain.firmware.serial') }),
    chassis: chassis(domain),
    system: system(settings?.smbios),
  };
}

/** How much memory the guest sees: memory.guest, else the request, else the limit. */
function memoryBytes({ domain }: VmiSpec): number {
  const { requests, limits } = domain.resources ?? {};
  const [field, amount] = [
    ['spec.domain.memory.guest', domain.memory?.guest] as const,
    ['spec.domain.resources.requests.memory', requests?.['memory']] as const,
    ['spec.domain.resources.limits.memory', limits?.['memory']] as const,
  ].find(([, value]) => value !== undefined) ?? ['spec.domain.memory.guest', undefined];
  if (amount === undefined) throw specError('MEMORY_MISSING', field, 'no amount of memory is given', 'set it, for example to 128Mi');
  const bytes = parseQuantity(amount);
  if (bytes === undefined || !(bytes >= GUEST_MEMORY_BYTES.least && bytes <= GUEST_MEMORY_BYTES.most))
    throw specError('MEMORY_INVALID', field, `a guest has between 1Mi and 4Ti of memory, found ${amount}`);
  return bytes;
}

function translationCacheMib(memoryBytes: number, cpus: number): number {
  return Math.max(memoryBytes < SMALL_GUEST_BYTES ? TCG_CACHE_MIB.small : TCG_CACHE_MIB.large, cpus * TCG_CACHE_MIB.perCpu);
}

function machineType({ domain }: VmiSpec): string {
  const type = domain.machine?.type || 'q35';
  if (!MACHINE_TYPE.test(type))
    throw specError('MACHINE_UNSUPPORTED', 'spec.domain.machine.type', `guests run on q35, found ${JSON.stringify(type.slice(0, 64))}`);
  return type;
}

/** Parts of the board that can be left out, and system management mode, which can also be asked for. */
function boardSwitches({ features, clock, firmware }: Domain): Board['switches'] {
  const { acpi, smm } = features ?? {};
  const { hpet, pit } = clock?.timer ?? {};
  return {
    ...(acpi?.enabled === false && { acpi: false }),
    ...(smm && { smm: smm.enabled !== false }),
    ...(hpet && { hpet: hpet.present !== false }),
    ...(pit?.present === false && { pit: false }),
    // Without a screen of its own the firmware writes to the serial port; the one that is plugged in shows the same.
    ...(firmware?.bootloader?.bios?.useSerial && { graphics: false }),
  };
}

/** Ticks that were missed are made up for by the clock on the board (catchup) or come late; only KVM's old timer has a choice, too. */
function clock({ clock }: Domain, { accel, nowMs }: ConvertInput['host']): Board['clock'] {
  const { rtc, pit } = clock?.timer ?? {};
  const base = clock && nowMs !== undefined ? clockBase(clock, nowMs) : undefined;
  return {
    ...(base && { base }),
    ...(rtc?.track && { track: rtc.track === 'guest' ? 'vm' : 'host' }),
    isCatchingUp: rtc?.tickPolicy === 'catchup',
    ...(pit?.tickPolicy && accel === 'kvm' && { kvmPitTicks: pit.tickPolicy }),
  };
}

/** `max` and `host` are the most that TCG and KVM can show; host-model is libvirt's word for nearly the same. */
function cpuModel({ domain }: VmiSpec, accel: 'kvm' | 'tcg'): string {
  const model = domain.cpu?.model || 'host-model';
  if (model === 'host-model' || model === 'host-passthrough') return accel === 'kvm' ? 'host' : 'max';
  const why = 'a model is a name such as Skylake-Client';
  return matching(model, { field: 'spec.domain.cpu.model', pattern: CPU_MODEL, why });
}

/** Cores, sockets and threads; when none of them is given there are as many sockets as the Pod asks for CPUs. */
function topology({ domain }: VmiSpec): Board['topology'] {
  const { cpu, resources } = domain;
  const isGiven = cpu?.cores || cpu?.sockets || cpu?.threads;
  const asked = parseQuantity(resources?.limits?.['cpu'] ?? resources?.requests?.['cpu'] ?? 1) ?? 1;
  const sockets = cpu?.sockets || (isGiven ? 1 : Math.max(1, Math.ceil(asked)));
  const { cores, threads } = { cores: cpu?.cores || 1, threads: cpu?.threads || 1 };
  const cpus = cores * sockets * threads;
  if (!(cpus <= MOST_CPUS))
    throw specError('TOO_MANY_CPUS', 'spec.domain.cpu', `a guest has at most ${MOST_CPUS} processors, found ${cpus}`);
  return { cpus, sockets, cores, threads };
}

function chassis({ chassis = {} }: Domain): Board['chassis'] {
  const texts = CHASSIS_WORDS.flatMap((name): [string, string][] => {
    const text = chassis[name];
    return text ? [[name, printable(text, `spec.domain.chassis.${name}`)]] : [];
  });
  return Object.fromEntries(texts);
}

/** What KubeVirt tells guests, unless the installation says otherwise. */
function system(smbios: MachineSettings['smbios'] = {}): Board['system'] {
  const given = SYSTEM_WORDS.flatMap((name): [string, string][] => {
    const text = smbios[name];
    return text ? [[name, printable(text, `smbios.${name} of the installation`)]] : [];
  });
  return { manufacturer: 'KubeVirt', product: 'None', family: 'KubeVirt', ...Object.fromEntries(given) };
}

/** The identity of the machine; admission fills firmware.uuid, and an instance that slipped by has at least its own uid. */
export function machineUuid({ metadata, spec }: ConvertInput['vmi']): string | undefined {
  const uuid = spec.domain.firmware?.uuid || metadata.uid;
  return uuid && matching(uuid, { field: 'spec.domain.firmware.uuid', pattern: UUID, why: 'it must be a UUID' }).toLowerCase();
}
