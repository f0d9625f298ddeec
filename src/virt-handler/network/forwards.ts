/** Opens and closes ports of guests at the addresses of their Pods, by QEMU's human monitor, and knows which are open by asking QEMU itself. */
import type { Protocol } from '../../api/handler/route-path.ts';
import { POD_NETDEV } from '../../qemu/convert/input.ts';
import type { GuestPort } from './decide-forwards.ts';

/** Sends a line to the human monitor of the guest with this key; an answer is what it printed. */
export type Monitor = (key: string, line: string) => Promise<string>;
type Place = {
  readonly key: string;
  /** The address of the Pod. */
  readonly address: string;
};
type Wanted = GuestPort & Place;
type Forward = { readonly protocol: Protocol; readonly address: string; readonly hostPort: number; readonly guestPort: number };
/** `passing`: for one connection, at a number of no meaning. `stray`: such a one that a process before this one left. */
export type OpenForward = Forward & { readonly use: 'lasting' | 'passing' | 'stray' };
/** A way to a port of a guest, to be released when the connection stands or has failed: it stays then. */
export type Way = { readonly port: number; readonly release: () => Promise<void> };

const LINE = /^\s*(TCP|UDP)\[HOST_FORWARD\]\s+\d+\s+(\S+)\s+(\d+)\s+\S+\s+(\d+)/gm;

export class Forwards {
  readonly #monitor: Monitor;
  /** One at a time for each guest: two who want the same port must not both add it. */
  readonly #turns = new Map<string, Promise<unknown>>();
  /** What is open at another number than the guest's. */
  readonly #elsewhere = new Map<string, 'lasting' | 'passing'>();

  constructor(monitor: Monitor) {
    this.#monitor = monitor;
  }

  /** All that are open at the address of the Pod. */
  async list({ key, address }: Place): Promise<OpenForward[]> {
    const open = parseForwards(await this.#monitor(key, 'info usernet')).filter((each) => each.address === address);
    return open.map((each) => ({
      ...each,
      use: each.hostPort === each.guestPort ? 'lasting' : (this.#elsewhere.get(idOf({ key, ...each })) ?? 'stray'),
    }));
  }

  /**
   * The port at which the guest's port can be reached on the Pod's address from now on: the same one, or any other where the system does not
   * let QEMU listen there (ports below 1024 on a host without a namespace).
   */
  open(wanted: Wanted): Promise<number> {
    return this.#inTurn(wanted.key, async () => {
      const open = await this.#find(wanted);
      if (open !== undefined) return open;
      const refusal = await this.#add(wanted, wanted.port);
      return (await this.#find(wanted)) ?? this.#openElsewhere(wanted, 'lasting', refusal);
    });
  }

  /** Closes a port again. Connections that stand go on. */
  close({ key, address, protocol, hostPort }: Place & Omit<Forward, 'guestPort'>): Promise<void> {
    return this.#inTurn(key, async () => {
      await this.#monitor(key, `hostfwd_remove ${POD_NETDEV} ${protocol}:${address}:${hostPort}`);
      this.#elsewhere.delete(idOf({ key, address, protocol, hostPort }));
    });
  }

  /** For one connection: where the port is open already, or at a number of no meaning, so that the port itself does not look open. */
  passingWay(wanted: Wanted): Promise<Way> {
    return this.#inTurn(wanted.key, async () => {
      const open = await this.#find(wanted);
      if (open !== undefined) return { port: open, release: async () => {} };
      const port = await this.#openElsewhere(wanted, 'passing');
      // A QEMU that is gone has closed it.
      return { port, release: () => this.close({ ...wanted, hostPort: port }).catch(() => {}) };
    });
  }

  #inTurn<T>(key: string, act: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(key) ?? Promise.resolve();
    const turn = before.catch(() => {}).then(act);
    this.#turns.set(key, turn);
    return turn.finally(() => {
      if (this.#turns.get(key) === turn) this.#turns.delete(key);
    });
  }

  async #openElsewhere(wanted: Wanted, use: 'lasting' | 'passing', earlier = ''): Promise<number> {
    const before = new Set((await this.list(wanted)).map(({ hostPort }) => hostPort));
    const refusal = (await this.#add(wanted, 0)) || earlier;
    const added = (await this.list(wanted)).find((each) => isFor(each, wanted) && !before.has(each.hostPort));
    const { key, address, protocol, port } = wanted;
    if (!added) throw new Error(`QEMU does not open port ${port} of the guest at ${address}: ${refusal || 'it does not show it'}`);
    this.#elsewhere.set(idOf({ key, address, protocol, hostPort: added.hostPort }), use);
    return added.hostPort;
  }

  /** What QEMU says against it. */
  async #add({ key, address, protocol, port }: Wanted, hostPort: number): Promise<string> {
    return (await this.#monitor(key, `hostfwd_add ${POD_NETDEV} ${protocol}:${address}:${hostPort}-:${port}`)).trim();
  }

  async #find(wanted: Wanted): Promise<number | undefined> {
    const fitting = (await this.list(wanted)).filter((each) => each.use === 'lasting' && isFor(each, wanted));
    return (fitting.find(({ hostPort }) => hostPort === wanted.port) ?? fitting[0])?.hostPort;
  }
}

/** The forwards in what `info usernet` prints. */
export function parseForwards(text: string): Forward[] {
  return [...text.matchAll(LINE)].map(([, protocol, address = '', hostPort, guestPort]) => ({
    protocol: protocol === 'UDP' ? 'udp' : 'tcp',
    address,
    hostPort: Number(hostPort),
    guestPort: Number(guestPort),
  }));
}

function isFor({ protocol, guestPort }: Forward, wanted: GuestPort): boolean {
  return protocol === wanted.protocol && guestPort === wanted.port;
}

function idOf({ key, address, protocol, hostPort }: Place & Omit<Forward, 'guestPort'>): string {
  return `${key} ${protocol} ${address} ${hostPort}`;
}
