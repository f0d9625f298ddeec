/** A preference upon a template: it fills in what the template leaves open, and never takes anything away. Pure. */
import { normaliseVmiSpec } from '../normalise-vmi-spec.ts';
import type { Disk, Domain, Interface, VmiSpec } from '../vmi-spec-schema.ts';
import type { PreferenceSpec } from './preference-schema.ts';

type Devices = NonNullable<PreferenceSpec['devices']>;

/** The spec of the template with what is preferred where it says nothing; in today's spelling, with a disk for each volume. */
export function applyPreference(preference: PreferenceSpec, given: VmiSpec): VmiSpec {
  const devices = preference.devices ?? {};
  const spec = withCard(normaliseVmiSpec(given), devices);
  const { domain } = spec;
  return {
    ...filled(spec, {
      architecture: preference.preferredArchitecture,
      subdomain: preference.preferredSubdomain,
      terminationGracePeriodSeconds: preference.preferredTerminationGracePeriodSeconds,
    }),
    domain: {
      ...filled(domain, { launchSecurity: preference.preferredLaunchSecurity }),
      ...part('machine', filled(domain.machine, { type: preference.machine?.preferredMachineType })),
      ...part('firmware', firmwareOf(preference, domain)),
      ...part('clock', clockOf(preference, domain)),
      ...part('features', featuresOf(preference, domain)),
      ...part('cpu', cpuOf(preference, domain)),
      devices: devicesOf(devices, spec),
    },
  };
}

/** The preferred annotations that the template does not have. */
export function preferredAnnotations({ annotations = {} }: PreferenceSpec, given: Readonly<Record<string, string>> = {}) {
  return { ...annotations, ...given };
}

function firmwareOf({ firmware = {} }: PreferenceSpec, domain: Domain): Domain['firmware'] {
  const { preferredEfi, preferredUseEfi, preferredUseSecureBoot, preferredUseBios, preferredUseBiosSerial } = firmware;
  const { bios, ...others } = domain.firmware?.bootloader ?? {};
  if (bios || Object.keys(others).length > 0) return domain.firmware;
  const efi = preferredEfi ?? (preferredUseEfi ? { secureBoot: preferredUseSecureBoot ?? false } : undefined);
  const bootloader = efi ? { efi } : preferredUseBios ? { bios: preferredUseBiosSerial ? { useSerial: true } : {} } : undefined;
  return bootloader ? { ...domain.firmware, bootloader } : domain.firmware;
}

function clockOf({ clock = {} }: PreferenceSpec, domain: Domain): Domain['clock'] {
  const { utc, timezone, timer } = domain.clock ?? {};
  const offset = utc === undefined && timezone === undefined ? clock.preferredClockOffset : undefined;
  const preferredTimer = timer === undefined ? clock.preferredTimer : undefined;
  return offset || preferredTimer ? { ...domain.clock, ...offset, ...(preferredTimer && { timer: preferredTimer }) } : domain.clock;
}

function featuresOf({ features = {} }: PreferenceSpec, domain: Domain): Domain['features'] {
  const { preferredAcpi, preferredApic, preferredHyperv, preferredKvm, preferredPvspinlock, preferredSmm } = features;
  return filled(domain.features, {
    acpi: preferredAcpi,
    apic: preferredApic,
    // Whoever passes all of them through wants no list.
    hyperv: domain.features?.hypervPassthrough ? undefined : preferredHyperv,
    kvm: preferredKvm,
    pvspinlock: preferredPvspinlock,
    smm: preferredSmm,
  });
}

function cpuOf({ cpu = {} }: PreferenceSpec, domain: Domain): Domain['cpu'] {
  const named = new Set((domain.cpu?.features ?? []).map(({ name }) => name));
  const more = (cpu.preferredCPUFeatures ?? []).filter(({ name }) => !named.has(name));
  return more.length > 0 ? { ...domain.cpu, features: [...(domain.cpu?.features ?? []), ...more] } : domain.cpu;
}

function devicesOf(preferred: Devices, spec: VmiSpec): Domain['devices'] {
  const { devices } = spec.domain;
  const choices = filled(devices, {
    autoattachGraphicsDevice: preferred.preferredAutoattachGraphicsDevice,
    autoattachInputDevice: preferred.preferredAutoattachInputDevice,
    autoattachMemBalloon: preferred.preferredAutoattachMemBalloon,
    autoattachPodInterface: preferred.preferredAutoattachPodInterface,
    autoattachSerialConsole: preferred.preferredAutoattachSerialConsole,
    blockMultiQueue: preferred.preferredBlockMultiQueue,
    disableHotplug: preferred.preferredDisableHotplug,
    networkInterfaceMultiqueue: preferred.preferredNetworkInterfaceMultiQueue,
    rng: preferred.preferredRng,
    tpm: preferred.preferredTPM,
    useVirtioTransitional: preferred.preferredUseVirtioTransitional,
  });
  const { inputs, interfaces, sound, panicDevices, disks, autoattachInputDevice, autoattachGraphicsDevice } = choices;
  const { gpus } = choices as { readonly gpus?: readonly object[] };
  const input = { type: preferred.preferredInputType, bus: preferred.preferredInputBus };
  const isInputWanted = autoattachInputDevice && !inputs?.length && (input.type || input.bus);
  return {
    ...choices,
    ...(disks && { disks: disks.map((disk) => diskOf(preferred, disk)) }),
    ...(interfaces && { interfaces: interfaces.map((each) => interfaceOf(preferred, each)) }),
    ...(inputs && { inputs: inputs.map((each) => filled(each, input)) }),
    ...(isInputWanted && { inputs: [filled({ name: 'default-0', type: 'tablet' } as const, { bus: input.bus })] }),
    ...(sound && { sound: filled(sound, { model: preferred.preferredSoundModel }) }),
    ...(panicDevices && { panicDevices: panicDevices.map((each) => filled(each, { model: preferred.preferredPanicDeviceModel })) }),
    ...(gpus && { gpus: gpus.map((each) => filled(each, { virtualGPUOptions: preferred.preferredVirtualGPUOptions })) }),
    ...(preferred.preferredVideoType && autoattachGraphicsDevice !== false && !choices.video
      ? { video: { type: preferred.preferredVideoType } as NonNullable<Domain['devices']['video']> } // a word that is not known is refused later
      : {}),
  };
}

function diskOf(preferred: Devices, given: Disk): Disk {
  const { cdrom, lun } = given;
  if (cdrom) return { ...given, cdrom: filled(cdrom, { bus: preferred.preferredCdromBus }) };
  if (lun) return { ...given, lun: filled(lun, { bus: preferred.preferredLunBus as 'scsi' | undefined }) }; // a word that is not known is refused later
  const disk = filled(given.disk ?? {}, { bus: preferred.preferredDiskBus });
  return {
    ...filled(given, {
      cache: preferred.preferredDiskCache,
      io: preferred.preferredDiskIO,
      blockSize: preferred.preferredDiskBlockSize,
      dedicatedIOThread: disk.bus === 'virtio' ? preferred.preferredDiskDedicatedIoThread : undefined,
    }),
    disk,
  };
}

function interfaceOf({ preferredInterfaceModel, preferredInterfaceMasquerade }: Devices, given: Interface): Interface {
  const { name: _, model: __, macAddress: ___, ports: ____, ...binding } = given;
  const isBound = Object.values(binding).some((each) => typeof each === 'object' && each !== null);
  return filled(given, { model: preferredInterfaceModel, masquerade: isBound ? undefined : preferredInterfaceMasquerade });
}

/** A machine without a network gets one card; it is written out when the preference says which one. */
function withCard(
  spec: VmiSpec,
  { preferredInterfaceModel, preferredInterfaceMasquerade, preferredAutoattachPodInterface }: Devices,
): VmiSpec {
  const { devices } = spec.domain;
  const isOff = (devices.autoattachPodInterface ?? preferredAutoattachPodInterface) === false;
  const isOpen = !isOff && !spec.networks?.length && !devices.interfaces?.length;
  if (!isOpen || (!preferredInterfaceModel && !preferredInterfaceMasquerade)) return spec;
  const interfaces = [{ name: 'default', masquerade: {} }];
  return { ...spec, networks: [{ name: 'default', pod: {} }], domain: { ...spec.domain, devices: { ...devices, interfaces } } };
}

/** The object with these values where it has none of its own; the same object when there is nothing to fill in. */
function filled<T extends object | undefined>(given: T, values: Readonly<Record<string, unknown>>): T {
  const own = (given ?? {}) as Readonly<Record<string, unknown>>;
  const missing = Object.entries(values).filter(([key, value]) => value !== undefined && value !== '' && isOpen(own[key]));
  return missing.length > 0 ? ({ ...own, ...Object.fromEntries(missing) } as T) : given; // of the words that KubeVirt has for it
}

function isOpen(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function part<Name extends string, T>(name: Name, value: T | undefined): { readonly [Key in Name]?: T } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [Key in Name]?: T };
}
