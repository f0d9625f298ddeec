/**
 * How many connections and clients of Services are passed on at once. Each takes two files of the one process that is the cluster, which has some
 * twenty thousand: whoever holds all of them keeps everybody from the API, consoles and machines.
 */

type Limits = { readonly ofOne: number; readonly ofAll: number };

const LIMITS: Limits = { ofOne: 2_000, ofAll: 5_000 };

/** Says that it is over; may be said more than once. */
type Leave = () => void;

export class ConnectionRoom {
  readonly #limits: Limits;
  readonly #underWay = new Map<string, number>();
  #inAll = 0;

  constructor(limits: Limits = LIMITS) {
    this.#limits = limits;
  }

  /** Counts one more to Services of this namespace; undefined when there are enough. */
  enter(namespace: string): Leave | undefined {
    const count = this.#underWay.get(namespace) ?? 0;
    if (count >= this.#limits.ofOne || this.#inAll >= this.#limits.ofAll) return undefined;
    this.#underWay.set(namespace, count + 1);
    this.#inAll += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#inAll -= 1;
      const left = (this.#underWay.get(namespace) ?? 1) - 1;
      if (left > 0) this.#underWay.set(namespace, left);
      else this.#underWay.delete(namespace);
    };
  }
}
