/** The parts of the spec that describe the board beside its devices: processor and platform features, clock, chassis. */
import { boolean, integer, object, oneOf, optional, text } from '../schema/dsl.ts';

/** Something that is switched on by being there, unless it says otherwise. */
const featureSchema = (description: string) => object(description, { enabled: optional(boolean('True when not given.')) });

const timerSchema = (description: string) => object(description, { present: optional(boolean('True when not given.')) });

const hypervSchema = object('What Windows expects of Hyper-V. Software emulation has none of it; with KVM each part is passed on.', {
  relaxed: optional(featureSchema('No watchdog for processors that are not scheduled in time.')),
  vapic: optional(featureSchema('A faster interrupt controller.')),
  spinlocks: optional(
    object('Tell the hypervisor when a processor waits for a lock.', {
      enabled: optional(boolean('True when not given.')),
      spinlocks: optional(integer('How often to try before telling; 4096 when not given.', { minimum: 4095 })),
    }),
  ),
  vpindex: optional(featureSchema('Processors know their number.')),
  runtime: optional(featureSchema('Processors know how long they ran.')),
  synic: optional(featureSchema('A controller for messages and events; brings vpindex along.')),
  synictimer: optional(
    object('Timers of that controller; brings synic along.', {
      enabled: optional(boolean('True when not given.')),
      direct: optional(featureSchema('Timers that interrupt without a message.')),
    }),
  ),
  reset: optional(featureSchema('A register that resets the machine.')),
  vendorid: optional(
    object('The name of the hypervisor that the guest reads.', {
      enabled: optional(boolean('True when not given.')),
      vendorid: optional(text('At most 12 characters.', { maxLength: 12 })),
    }),
  ),
  frequencies: optional(featureSchema('The guest can read the frequencies of its clocks.')),
  reenlightenment: optional(featureSchema('The guest is told when those frequencies change.')),
  tlbflush: optional(
    object('Flush address caches of other processors with one call; brings vpindex along.', {
      enabled: optional(boolean('True when not given.')),
      direct: optional(featureSchema('For guests inside the guest, too.')),
      extended: optional(featureSchema('For parts of the address space.')),
    }),
  ),
  ipi: optional(featureSchema('Interrupt other processors with one call; brings vpindex along.')),
  evmcs: optional(featureSchema('Faster guests inside the guest, on Intel; brings vapic along.')),
});

export const featuresSchema = object('What the platform offers to the guest.', {
  acpi: optional(featureSchema('Tables for power management. Without them the power button does nothing.')),
  apic: optional(
    object('The interrupt controller of each processor.', {
      enabled: optional(boolean('True when not given.')),
      endOfInterrupt: optional(boolean('Acknowledge interrupts without leaving the guest. With KVM.')),
    }),
  ),
  smm: optional(featureSchema('System management mode.')),
  kvm: optional(object('What the guest sees of KVM.', { hidden: optional(boolean('True hides it.')) })),
  pvspinlock: optional(featureSchema('Locks that give the processor away. With KVM.')),
  hyperv: optional(hypervSchema),
  hypervPassthrough: optional(object('Every Hyper-V feature that the host has.', { enabled: optional(boolean('True when not given.')) })),
});

export const clockSchema = object('The clock of the machine, and its timers. It runs in UTC unless a time zone is given.', {
  utc: optional(
    object('The clock runs in UTC.', {
      offsetSeconds: optional(
        integer('How far ahead of it when the machine starts; behind it when negative.', { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }),
      ),
    }),
  ),
  timezone: optional(
    text('The clock shows the local time of this zone, such as Europe/Berlin, when the machine starts.', { maxLength: 64 }),
  ),
  timer: optional(
    object('Timers that the guest finds.', {
      hpet: optional(
        object('The high precision timer.', {
          present: optional(boolean('True when not given.')),
          tickPolicy: optional(oneOf('Ticks that were missed come late; QEMU has no other way.', ['delay'])),
        }),
      ),
      kvm: optional(timerSchema('The clock of KVM.')),
      pit: optional(
        object('The oldest timer of a PC.', {
          present: optional(boolean('True when not given.')),
          tickPolicy: optional(oneOf('What becomes of ticks that were missed. With KVM.', ['delay', 'discard'])),
        }),
      ),
      rtc: optional(
        object('The clock on the board.', {
          present: optional(boolean('Always true; a PC has one.')),
          tickPolicy: optional(oneOf('What becomes of ticks that were missed.', ['delay', 'catchup'])),
          track: optional(oneOf('Whether it stands still while the guest is paused (guest) or not (wall).', ['guest', 'wall'])),
        }),
      ),
      hyperv: optional(timerSchema('The clock of Hyper-V. With KVM.')),
    }),
  ),
});

const CHASSIS_TEXT = { maxLength: 256 };
export const chassisSchema = object('What the guest can read about its case.', {
  manufacturer: optional(text('Who made it.', CHASSIS_TEXT)),
  version: optional(text('Its version.', CHASSIS_TEXT)),
  serial: optional(text('Its serial number.', CHASSIS_TEXT)),
  asset: optional(text('The tag of its owner.', CHASSIS_TEXT)),
  sku: optional(text('Its order number.', CHASSIS_TEXT)),
});

export const cpuFeatureSchema = object('A feature of the processor.', {
  name: text('As QEMU calls it, such as vmx or aes.'),
  policy: optional(
    oneOf('require, the default, fails to start without it; force and optional show it if they can; disable hides it.', [
      '',
      'require',
      'force',
      'optional',
      'disable',
    ]),
  ),
});
