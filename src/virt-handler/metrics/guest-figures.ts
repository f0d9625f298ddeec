/**
 * What is measured of a guest, and how the answers are read that it comes from. Pure. QEMU counts disks; what a balloon and an agent say is the
 * word of the guest: a number that cannot be is left out, and names are those of the spec, never those that the guest gives.
 */
import type { GuestFileSystem } from '../../api/handler/answers.ts';
import { isObject, type JsonObject } from '../../base/json.ts';

export type ProcessFigures = { readonly userSeconds: number; readonly systemSeconds: number; readonly residentBytes: number };
/** As the guest sees its memory; its own word. */
export type GuestMemory = Readonly<Partial<Record<keyof typeof MEMORY_STATS, number>>>;
export type DiskFigures = { readonly disk: string } & Readonly<Record<keyof typeof DISK_STATS, number>>;
export type NetworkFigures = { readonly network: string } & Readonly<Record<keyof typeof NETWORK_STATS, number>>;

export type VcpuFigures = {
  readonly id: number;
  readonly state: 'running' | 'blocked';
  readonly seconds: number;
  /** What the kernel counts of its threads only where it was told to is missing elsewhere. */
  readonly waitSeconds?: number;
  readonly delaySeconds?: number;
};
/** As the agent names and counts them. */
export type FileSystemFigures = Pick<GuestFileSystem, 'diskName' | 'mountPoint' | 'fileSystemType' | 'usedBytes' | 'totalBytes'>;

export type GuestFigures = {
  readonly atMs: number;
  /** Undefined where its processes cannot be seen. */
  readonly process?: ProcessFigures | undefined;
  /** Empty where its threads cannot be seen. */
  readonly vcpus: readonly VcpuFigures[];
  /** What the balloon leaves to the guest. */
  readonly balloonBytes?: number | undefined;
  readonly memory: GuestMemory;
  readonly disks: readonly DiskFigures[];
  /** Empty without an agent: QEMU does not count what its user network carries. */
  readonly networks: readonly NetworkFigures[];
  /** Empty without an agent. */
  readonly fileSystems: readonly FileSystemFigures[];
};

const MEMORY_STATS = {
  availableBytes: 'stat-total-memory',
  unusedBytes: 'stat-free-memory',
  usableBytes: 'stat-available-memory',
  cachedBytes: 'stat-disk-caches',
  swapInBytes: 'stat-swap-in',
  swapOutBytes: 'stat-swap-out',
  majorFaults: 'stat-major-faults',
  minorFaults: 'stat-minor-faults',
} as const;
/** Amounts of memory, which are no more than the machine has; the others only grow. */
const AMOUNTS: ReadonlySet<string> = new Set(['availableBytes', 'unusedBytes', 'usableBytes', 'cachedBytes']);

const DISK_STATS = {
  readBytes: 'rd_bytes',
  writtenBytes: 'wr_bytes',
  reads: 'rd_operations',
  writes: 'wr_operations',
  flushes: 'flush_operations',
  readNanoseconds: 'rd_total_time_ns',
  writeNanoseconds: 'wr_total_time_ns',
  flushNanoseconds: 'flush_total_time_ns',
} as const;

const NETWORK_STATS = {
  receivedBytes: 'rx-bytes',
  receivedPackets: 'rx-packets',
  receiveErrors: 'rx-errs',
  receiveDrops: 'rx-dropped',
  sentBytes: 'tx-bytes',
  sentPackets: 'tx-packets',
  sendErrors: 'tx-errs',
  sendDrops: 'tx-dropped',
} as const;

const MOST_NICS = 32;
/** Where the device of a disk is, or its part that holds the medium. */
const DISK_DEVICE = /^\/machine\/peripheral\/disk(\d{1,3})(?:\/|$)/;

/** The property guest-stats of the balloon. Nothing before the guest has answered; QEMU has the greatest number for what it did not say. */
export function readGuestMemory(answer: unknown, machineBytes: number): GuestMemory {
  const { stats, 'last-update': updated } = isObject(answer) ? answer : {};
  if (!isObject(stats) || typeof updated !== 'number' || updated <= 0) return {};
  return Object.fromEntries(
    Object.entries(MEMORY_STATS).flatMap(([field, key]) => {
      const value = count(stats[key]);
      return value === undefined || (AMOUNTS.has(field) && value > machineBytes) ? [] : [[field, value]];
    }),
  );
}

/** query-balloon */
export function readBalloonBytes(answer: unknown): number | undefined {
  return isObject(answer) ? count(answer['actual']) : undefined;
}

/** query-blockstats; `disks` are the names of the spec, in its order. */
export function readDisks(answer: unknown, disks: readonly string[]): DiskFigures[] {
  if (!Array.isArray(answer)) return [];
  const found = answer.flatMap((said: unknown): DiskFigures[] => {
    const { qdev, stats } = isObject(said) ? said : {};
    const disk = disks[Number(DISK_DEVICE.exec(typeof qdev === 'string' ? qdev : '')?.[1])];
    return disk === undefined || !isObject(stats) ? [] : [{ disk, ...counts(DISK_STATS, stats) }];
  });
  return firstOfEach(found, ({ disk }) => disk);
}

/** guest-network-get-interfaces; `networks` are the names of the spec by the address of their card, in lower case. */
export function readNetworks(answer: unknown, networks: ReadonlyMap<string, string>): NetworkFigures[] {
  if (!Array.isArray(answer)) return [];
  const found = answer.slice(0, MOST_NICS).flatMap((said: unknown): NetworkFigures[] => {
    const { 'hardware-address': mac, statistics } = isObject(said) ? said : {};
    const network = networks.get(typeof mac === 'string' ? mac.toLowerCase() : '');
    return network === undefined || !isObject(statistics) ? [] : [{ network, ...counts(NETWORK_STATS, statistics) }];
  });
  return firstOfEach(found, ({ network }) => network);
}

function counts<Field extends string>(keys: Readonly<Record<Field, string>>, said: JsonObject): Record<Field, number> {
  const entries = Object.entries<string>(keys).map(([field, key]) => [field, count(said[key]) ?? 0]);
  return Object.fromEntries(entries) as Record<Field, number>; // of the same fields
}

/** Bridges and bonds in a guest have the address of one of their cards: the card comes first. */
function firstOfEach<Item>(items: readonly Item[], nameOf: (item: Item) => string): Item[] {
  const byName = new Map<string, Item>();
  for (const item of items) if (!byName.has(nameOf(item))) byName.set(nameOf(item), item);
  return [...byName.values()];
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
