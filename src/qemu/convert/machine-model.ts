/**
 * A machine as a value: everything that QEMU is told, before it is words. Every device has an id and a place; both are part of what a guest
 * sees and of what another QEMU must be given to take the guest over, so nothing is left for QEMU to choose.
 */
type Properties = Readonly<Record<string, unknown>>;

/** Where a device sits, on a bus that a board or another device has. */
export type Place =
  | PciPlace
  | { readonly kind: 'scsi'; readonly bus: string; readonly channel: number; readonly target: number; readonly lun: number }
  /** `1.2` is the second port of a hub at the first one. */
  | { readonly kind: 'usb'; readonly bus: string; readonly port: string }
  | { readonly kind: 'channel'; readonly bus: string; readonly number: number }
  /** A bus where there is nothing to choose: a port of an AHCI controller, the ISA bus. */
  | { readonly kind: 'bus'; readonly bus: string };

export type PciPlace = { readonly kind: 'pci'; readonly bus: string; readonly slot: number; readonly function: number };

/** What the guest sees. */
export type Device = {
  readonly part: 'device';
  readonly id: string;
  readonly driver: string;
  readonly place: Place;
  readonly properties: Properties;
};

/** What devices are connected to on the host's side. */
export type Backend =
  | { readonly part: 'blockdev'; readonly node: Properties & { readonly driver: string; readonly 'node-name': string } }
  | { readonly part: 'netdev'; readonly id: string; readonly type: string; readonly properties: Properties }
  | { readonly part: 'object'; readonly id: string; readonly type: string; readonly properties: Properties }
  | Chardev
  | { readonly part: 'audiodev'; readonly id: string; readonly driver: string };

/** A unix socket that QEMU listens on, or connects to at its start. */
export type Chardev = {
  readonly part: 'chardev';
  readonly id: string;
  readonly socket: string;
  /** Somebody else listens on it. */
  readonly isClient?: boolean;
  /** A file that takes what is written, also while nobody is connected. */
  readonly log?: string;
};

/** Processors, memory and what the guest can read about its identity. */
export type Board = {
  readonly type: string;
  readonly switches: Readonly<Partial<Record<'acpi' | 'smm' | 'hpet' | 'pit' | 'graphics', boolean>>>;
  readonly accelerator: { readonly kind: 'kvm' } | { readonly kind: 'tcg'; readonly cacheMib: number };
  /** Flags are words of QEMU such as `hv-relaxed=on`. */
  readonly processor: { readonly model: string; readonly flags: readonly string[] };
  readonly topology: Readonly<Record<'cpus' | 'sockets' | 'cores' | 'threads', number>>;
  readonly memoryKib: number;
  /** Other processes of the host work in the memory of the guest, too. */
  readonly isMemoryShared?: boolean;
  readonly clock: {
    /** What it shows at the start, as 2026-01-31T13:00:00; UTC when not given. */
    readonly base?: string;
    readonly track?: 'vm' | 'host';
    readonly isCatchingUp: boolean;
    readonly kvmPitTicks?: 'delay' | 'discard';
  };
  /** What is loaded into memory instead of a boot sector. */
  readonly boot?: { readonly kernel: string; readonly initrd?: string; readonly args?: string };
  readonly name: string;
  readonly uuid?: string;
  readonly serial?: string;
  readonly chassis: Readonly<Record<string, string>>;
  /** Manufacturer, product and so on, as the guest reads them. */
  readonly system: Readonly<Record<string, string>>;
};

/** What is neither: an option of QEMU and its value. */
export type Setting = { readonly part: 'setting'; readonly words: readonly string[] };

export type Part = Device | Backend | Setting;
export type Machine = {
  readonly board: Board;
  readonly isStartedPaused: boolean;
  /** Its guest comes from another QEMU. */
  readonly isIncoming?: boolean;
  /** In an order in which QEMU can be told: what others refer to comes first. */
  readonly parts: readonly Part[];
};

/** The parts that QEMU can also be given while it runs. */
export type Pluggable = Exclude<Part, Setting | { readonly part: 'audiodev' }>;
