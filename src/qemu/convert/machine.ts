/** The board: machine type, processors, memory, clock, and what the guest can read about its identity. */
import type { Domain, VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { parseQuantity } from '../../base/quantity.ts';
import { cpuFlags } from './cpu-flags.ts';
import type { ConvertInput } from './input.ts';
import { matching, optionValue, specError } from './option-text.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** What q35 takes without an IOMMU. */
const MOST_CPUS = 255;
const MOST_MEMORY_BYTES = 2 ** 42;
/**
 * TCG keeps the code it translated, by default up to 1 GiB for each guest. Measured with a 128 MiB guest to "ready", three runs each:
 * 16 MiB: 4.0-4.6 CPU s, 158 MB in all; 32 MiB: 3.1-3.3 s, 176 MB; 64 MiB and more: 3.0-3.4 s, 205 MB. So 32 is enough for a small guest.
 * Larger guests run more code and were not measured: they get room to spare. QEMU divides it among the processors, in parts of 2 MiB.
 */
const TCG_CACHE_MIB = { small: 32, large: 128, perCpu: 4 } as const;
const CHASSIS_WORDS = ['manufacturer', 'version', 'serial', 'asset', 'sku'] as const;
const SMALL_GUEST_BYTES = 512 * 2 ** 20;

/** The arguments for the board itself. */
export function machineArguments({ vmi, host }: ConvertInput): string[] {
  const { spec } = vmi;
  const sizeBytes = memoryBytes(spec);
  const { cpus, sockets, cores, threads } = topology(spec);
  return [
    ...['-machine', [machineType(spec), ...boardSwitches(spec.domain)].join(',')],
    ...['-accel', host.accel === 'kvm' ? 'kvm' : `tcg,tb-size=${translationCacheMib(sizeBytes, cpus)}`],
    ...['-cpu', [cpuModel(spec, host.accel), ...cpuFlags(spec.domain, host.accel)].join(',')],
    ...['-smp', `cpus=${cpus},sockets=${sockets},cores=${cores},threads=${threads}`],
    ...['-m', `size=${Math.ceil(sizeBytes / 1024)}k`],
    ...clock(spec.domain, host.accel),
    ...identity(vmi),
    ...chassis(spec.domain),
  ];
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
  // QEMU itself refuses less than it needs for the firmware; one MiB keeps the arithmetic honest here.
  if (bytes === undefined || !(bytes >= 2 ** 20 && bytes <= MOST_MEMORY_BYTES))
    throw specError('MEMORY_INVALID', field, `a guest has between 1Mi and 4Ti of memory, found ${amount}`);
  return bytes;
}

function translationCacheMib(memoryBytes: number, cpus: number): number {
  return Math.max(memoryBytes < SMALL_GUEST_BYTES ? TCG_CACHE_MIB.small : TCG_CACHE_MIB.large, cpus * TCG_CACHE_MIB.perCpu);
}

function machineType({ domain }: VmiSpec): string {
  const type = domain.machine?.type || 'q35';
  if (!/^(pc-)?q35(-[a-z0-9.]+)*$/.test(type))
    throw specError('MACHINE_UNSUPPORTED', 'spec.domain.machine.type', `guests run on q35, found ${JSON.stringify(type.slice(0, 64))}`);
  return type;
}

/** Parts of the board that can be left out, and system management mode, which can also be asked for. */
function boardSwitches({ features, clock }: Domain): string[] {
  const { acpi, smm } = features ?? {};
  const { hpet, pit } = clock?.timer ?? {};
  return [
    ...(acpi?.enabled === false ? ['acpi=off'] : []),
    ...(smm ? [`smm=${smm.enabled === false ? 'off' : 'on'}`] : []),
    ...(hpet ? [`hpet=${hpet.present === false ? 'off' : 'on'}`] : []),
    ...(pit?.present === false ? ['pit=off'] : []),
  ];
}

/** Ticks that were missed are made up for by the clock on the board (catchup) or come late; only KVM's old timer has a choice, too. */
function clock({ clock }: Domain, accel: 'kvm' | 'tcg'): string[] {
  const { rtc, pit } = clock?.timer ?? {};
  const words = ['base=utc'];
  if (rtc?.track) words.push(`clock=${rtc.track === 'guest' ? 'vm' : 'host'}`);
  if (rtc?.tickPolicy === 'catchup') words.push('driftfix=slew');
  return [
    ...(words.length > 1 ? ['-rtc', words.join(',')] : []),
    ...(pit?.tickPolicy && accel === 'kvm' ? ['-global', `kvm-pit.lost_tick_policy=${pit.tickPolicy}`] : []),
  ];
}

/** `max` and `host` are the most that TCG and KVM can show; host-model is libvirt's word for nearly the same. */
function cpuModel({ domain }: VmiSpec, accel: 'kvm' | 'tcg'): string {
  const model = domain.cpu?.model || 'host-model';
  if (model === 'host-model' || model === 'host-passthrough') return accel === 'kvm' ? 'host' : 'max';
  const why = 'a model is a name such as Skylake-Client';
  return matching(model, { field: 'spec.domain.cpu.model', pattern: /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, why });
}

/** Cores, sockets and threads; when none of them is given there are as many sockets as the Pod asks for CPUs (8.1). */
function topology({ domain }: VmiSpec): Record<'cpus' | 'sockets' | 'cores' | 'threads', number> {
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

function identity(vmi: ConvertInput['vmi']): string[] {
  const { name, namespace = 'default' } = vmi.metadata;
  const { serial } = vmi.spec.domain.firmware ?? {};
  const uuid = machineUuid(vmi);
  const words = ['type=1', 'manufacturer=KubeVirt', 'product=None', 'family=KubeVirt'];
  if (serial) words.push(`serial=${optionValue(serial, 'spec.domain.firmware.serial')}`);
  return [
    ...['-name', `guest=${optionValue(`${namespace}_${name}`, 'metadata.name')}`],
    ...(uuid ? ['-uuid', uuid] : []),
    ...['-smbios', words.join(',')],
  ];
}

function chassis({ chassis = {} }: Domain): string[] {
  const words = CHASSIS_WORDS.flatMap((name) => {
    const text = chassis[name];
    return text ? [`${name}=${optionValue(text, `spec.domain.chassis.${name}`)}`] : [];
  });
  return words.length === 0 ? [] : ['-smbios', ['type=3', ...words].join(',')];
}

/** The identity of the machine; admission fills firmware.uuid, and an instance that slipped by has at least its own uid. */
export function machineUuid({ metadata, spec }: ConvertInput['vmi']): string | undefined {
  const uuid = spec.domain.firmware?.uuid || metadata.uid;
  return uuid && matching(uuid, { field: 'spec.domain.firmware.uuid', pattern: UUID, why: 'it must be a UUID' }).toLowerCase();
}
