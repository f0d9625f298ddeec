/** Places given away that the cache does not show yet: without them the next Pod would be given the same room. */
import type { Pod } from '../../api/core/pod.ts';
import type { Clock } from '../../base/clock.ts';

type Assumption = { readonly pod: Pod; readonly nodeName: string; readonly until: number };

/** A binding that has not shown up by then has failed. */
const LIFE_MS = 30_000;

export class Assumptions {
  readonly #byUid = new Map<string, Assumption>();
  readonly #clock: Clock;
  readonly #current: (pod: Pod) => Pod | undefined;

  /** `current` is how the cache sees that Pod now. */
  constructor({ clock, current }: { readonly clock: Clock; readonly current: (pod: Pod) => Pod | undefined }) {
    this.#clock = clock;
    this.#current = current;
  }

  assume(pod: Pod, nodeName: string): void {
    this.#byUid.set(pod.metadata.uid ?? '', { pod, nodeName, until: this.#clock.now() + LIFE_MS });
  }

  forget(pod: Pod): void {
    this.#byUid.delete(pod.metadata.uid ?? '');
  }

  /** The Pods believed to be on their way to this node. */
  on(nodeName: string): Pod[] {
    return [...this.#byUid.values()].filter((each) => each.nodeName === nodeName && this.#isOpen(each)).map(({ pod }) => pod);
  }

  #isOpen({ pod, until }: Assumption): boolean {
    const seen = this.#current(pod);
    const isOpen = seen?.metadata.uid === pod.metadata.uid && !seen?.spec.nodeName && until > this.#clock.now();
    if (!isOpen) this.forget(pod);
    return isOpen;
  }
}
