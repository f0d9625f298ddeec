/** Opens ports of guests at the addresses of their Pods, by QEMU's human monitor, and knows which are open by asking QEMU itself. */
import type { Protocol } from '../../api/handler/route-path.ts';
import { POD_NETDEV } from '../../qemu/convert/input.ts';
import type { GuestPort } from './decide-forwards.ts';

/** Sends a line to the human monitor of the guest with this key; an answer is what it printed. */
export type Monitor = (key: string, line: string) => Promise<string>;
type Wanted = GuestPort & {
  readonly key: string;
  /** The address of the Pod. */
  readonly address: string;
};
type Forward = { readonly protocol: Protocol; readonly address: string; readonly hostPort: number; readonly guestPort: number };

const LINE = /^\s*(TCP|UDP)\[HOST_FORWARD\]\s+\d+\s+(\S+)\s+(\d+)\s+\S+\s+(\d+)/gm;

export class Forwards {
  readonly #monitor: Monitor;
  /** One at a time for each guest: two who want the same port must not both add it. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(monitor: Monitor) {
    this.#monitor = monitor;
  }

  /**
   * The port at which the guest's port can be reached on the Pod's address: the same one, or any other where the system does not let
   * QEMU listen there (ports below 1024 on a host without a namespace). Nothing is asked to close: QEMU ends with its Pod.
   */
  open(wanted: Wanted): Promise<number> {
    return this.#inTurn(wanted.key, () => this.#openNow(wanted));
  }

  /** Opens those that the system lets QEMU listen at, under the same number. */
  openWhatCanBe({ key, address }: Pick<Wanted, 'key' | 'address'>, ports: readonly GuestPort[]): Promise<void> {
    return this.#inTurn(key, async () => {
      const open = parseForwards(await this.#monitor(key, 'info usernet'));
      const isOpen = ({ protocol, port }: GuestPort) =>
        open.some((each) => each.protocol === protocol && each.address === address && each.guestPort === port);
      for (const { protocol, port } of ports.filter((each) => !isOpen(each)))
        await this.#monitor(key, `hostfwd_add ${POD_NETDEV} ${protocol}:${address}:${port}-:${port}`);
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

  async #openNow(wanted: Wanted): Promise<number> {
    const { key, address, protocol, port } = wanted;
    const open = await this.#find(wanted);
    if (open !== undefined) return open;
    let refusal = '';
    for (const hostPort of [port, 0]) {
      refusal = await this.#monitor(key, `hostfwd_add ${POD_NETDEV} ${protocol}:${address}:${hostPort}-:${port}`);
      const opened = refusal.trim() === '' ? await this.#find(wanted) : undefined;
      if (opened !== undefined) return opened;
    }
    throw new Error(`QEMU does not open port ${port} of the guest at ${address}: ${refusal.trim() || 'it does not show it'}`);
  }

  async #find({ key, address, protocol, port }: Wanted): Promise<number | undefined> {
    const open = parseForwards(await this.#monitor(key, 'info usernet'));
    const fitting = open.filter((each) => each.protocol === protocol && each.address === address && each.guestPort === port);
    return (fitting.find(({ hostPort }) => hostPort === port) ?? fitting[0])?.hostPort;
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
