/** What a preference says: how a system likes its machine where the author of the machine leaves it open. Shared by both kinds of preferences. */
import { boolean, foreign, integer, mapOf, object, oneOf, optional, quantity, type Static, text } from '../../schema/dsl.ts';
import type { Domain } from '../vmi-spec-schema.ts';

type Clock = NonNullable<Domain['clock']>;
type Features = NonNullable<Domain['features']>;
type CpuFeature = NonNullable<NonNullable<Domain['cpu']>['features']>[number];

const TOPOLOGIES = [
  'sockets',
  'cores',
  'threads',
  'spread',
  'any',
  'preferSockets',
  'preferCores',
  'preferThreads',
  'preferSpread',
  'preferAny',
] as const;
const SPREADS = ['SocketsCoresThreads', 'SocketsCores', 'CoresThreads'] as const;

const devicesSchema = object('Devices.', {
  preferredAutoattachGraphicsDevice: optional(boolean('Whether there is a graphics card.')),
  preferredAutoattachInputDevice: optional(boolean('Whether there is an input device when none is listed.')),
  preferredAutoattachMemBalloon: optional(boolean('Whether there is a balloon.')),
  preferredAutoattachPodInterface: optional(boolean('Whether there is a network card when none is listed.')),
  preferredAutoattachSerialConsole: optional(boolean('Whether there is a serial console.')),
  preferredBlockMultiQueue: optional(boolean('Whether disks have a queue for each processor.')),
  preferredCdromBus: optional(text('How CD-ROM drives are attached.')),
  preferredDisableHotplug: optional(boolean('Whether devices stay as they are while the guest runs.')),
  preferredDiskBlockSize: optional(foreign<object>('Block sizes that disks tell.')),
  preferredDiskBus: optional(text('How disks are attached.')),
  preferredDiskCache: optional(text('How the host caches writes.')),
  preferredDiskDedicatedIoThread: optional(boolean('Whether each disk on virtio has a thread.')),
  preferredDiskIO: optional(text('How the host reads and writes.')),
  preferredInputBus: optional(text('How input devices are attached.')),
  preferredInputType: optional(text('What kind of input devices they are.')),
  preferredInterfaceMasquerade: optional(object('Network cards are behind the address of the Pod.', {})),
  preferredInterfaceModel: optional(text('Which network card the guest sees.')),
  preferredLunBus: optional(text('How LUNs are attached.')),
  preferredNetworkInterfaceMultiQueue: optional(boolean('Whether network cards have a queue for each processor.')),
  preferredPanicDeviceModel: optional(text('How the guest says that it panicked.')),
  preferredRng: optional(object('There is a source of randomness.', {})),
  preferredSoundModel: optional(text('Which sound card, where there is one.')),
  preferredTPM: optional(foreign<object>('There is a TPM.')),
  preferredUseVirtioTransitional: optional(boolean('Whether devices on virtio look as they did before version 1.')),
  preferredVideoType: optional(text('Which graphics card.')),
  preferredVirtualGPUOptions: optional(foreign<object>('How graphics processors are shown.')),
});

export const preferenceSpecSchema = object('What machines are given where they say nothing themselves.', {
  annotations: optional(mapOf('Annotations of the instances.', text('The value.'))),
  clock: optional(
    object('The clock.', {
      preferredClockOffset: optional(foreign<Clock>('What time it shows.')),
      preferredTimer: optional(foreign<NonNullable<Clock['timer']>>('Its timers.')),
    }),
  ),
  cpu: optional(
    object('Processors.', {
      preferredCPUFeatures: optional(foreign<readonly CpuFeature[]>('Features of the processor.', 'array')),
      preferredCPUTopology: optional(oneOf('How the processors of an instance type are arranged; sockets when not given.', TOPOLOGIES)),
      spreadOptions: optional(
        object('For the topology spread.', {
          across: optional(oneOf('Over what; SocketsCores when not given.', SPREADS)),
          ratio: optional(integer('How many cores a socket has; 2 when not given.', { minimum: 1, format: 'int64' })),
        }),
      ),
    }),
  ),
  devices: optional(devicesSchema),
  features: optional(
    object('What the platform offers.', {
      preferredAcpi: optional(foreign<NonNullable<Features['acpi']>>('As acpi of a machine.')),
      preferredApic: optional(foreign<NonNullable<Features['apic']>>('As apic of a machine.')),
      preferredHyperv: optional(foreign<NonNullable<Features['hyperv']>>('As hyperv of a machine.')),
      preferredKvm: optional(foreign<NonNullable<Features['kvm']>>('As kvm of a machine.')),
      preferredPvspinlock: optional(foreign<NonNullable<Features['pvspinlock']>>('As pvspinlock of a machine.')),
      preferredSmm: optional(foreign<NonNullable<Features['smm']>>('As smm of a machine.')),
    }),
  ),
  firmware: optional(
    object('What starts the guest.', {
      preferredEfi: optional(
        object('EFI.', { secureBoot: optional(boolean('Only what is signed.')), persistent: optional(boolean('Its variables are kept.')) }),
      ),
      preferredUseBios: optional(boolean('A BIOS.')),
      preferredUseBiosSerial: optional(boolean('A BIOS that speaks on the serial console.')),
      preferredUseEfi: optional(boolean('EFI; preferredEfi is the newer way to say it.')),
      preferredUseSecureBoot: optional(boolean('EFI that starts only what is signed.')),
    }),
  ),
  machine: optional(object('The board.', { preferredMachineType: optional(text('Its type.')) })),
  preferSpreadSocketToCoreRatio: optional(
    integer('How many cores a socket has; spreadOptions is the newer way to say it.', { minimum: 1, format: 'int64' }),
  ),
  preferredArchitecture: optional(text('The processors of the node.')),
  preferredLaunchSecurity: optional(foreign<object>('Memory that the host cannot read.')),
  preferredSubdomain: optional(text('The domain part of the name inside the cluster.')),
  preferredTerminationGracePeriodSeconds: optional(
    integer('How long the guest has to shut down before it is cut off.', { minimum: 0, format: 'int64' }),
  ),
  requirements: optional(
    object('What a machine must have at least.', {
      architecture: optional(text('The processors of the node.')),
      cpu: optional(object('Processors.', { guest: integer('How many.', { minimum: 1, format: 'int64' }) })),
      memory: optional(object('Memory.', { guest: quantity('How much.') })),
    }),
  ),
  volumes: optional(object('Volumes.', { preferredStorageClassName: optional(text('The class of disks that are made for the machine.')) })),
});

export type PreferenceSpec = Static<typeof preferenceSpecSchema>;
