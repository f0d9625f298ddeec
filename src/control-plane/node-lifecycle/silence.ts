/**
 * For how long a node has been silent and has had its taints, by what we have seen ourselves and by a clock that nobody can set. What was
 * before us, and what was while we were away, counts for nothing: a guest is never ended because nobody was there to hear of its node.
 */
import { LEASES, type Lease } from '../../api/core/lease.ts';
import type { Node, Taint } from '../../api/core/node.ts';
import type { Clock } from '../../base/clock.ts';
import { Pulse } from '../../base/pulse.ts';
import type { Cache } from '../../client/cache.ts';

export const NODE_LEASES = { resource: LEASES, namespace: 'kube-node-lease' } as const;

export class Silence {
  readonly #clock: Clock;
  readonly pulse: Pulse;
  /** By node: when its lease was last seen to change. */
  readonly #heardAt = new Map<string, number>();
  /** By node and taint: when it was first seen. */
  readonly #taintedAt = new Map<string, Map<string, number>>();

  constructor({ clock, leases, nodes }: { clock: Clock; leases: Cache<Lease>; nodes: Cache<Node> }) {
    this.#clock = clock;
    this.pulse = new Pulse(clock);
    leases.subscribe((change) => {
      const isNews = change.type === 'added' || (change.type === 'modified' && change.old.spec.renewTime !== change.object.spec.renewTime);
      if (isNews) this.#heardAt.set(change.object.metadata.name, clock.steady());
    });
    nodes.subscribe(({ type, object }) => {
      if (type !== 'deleted') return this.#see(object);
      this.#heardAt.set(object.metadata.name, clock.steady()); // the last that was heard of it
      this.#taintedAt.delete(object.metadata.name);
    });
  }

  /** A node whose lease nobody has seen is silent since we first asked, and one that was deleted since then. */
  ofNodeMs(name: string): number {
    const now = this.#clock.steady();
    const heardAt = this.#heardAt.get(name) ?? now;
    if (heardAt === now) this.#heardAt.set(name, now);
    return now - Math.max(heardAt, this.pulse.awakeSince());
  }

  /** For how long we have seen the node with this taint. */
  ofTaintMs(name: string, taint: Taint): number {
    const now = this.#clock.steady();
    return now - Math.max(this.#taintedAt.get(name)?.get(textOf(taint)) ?? now, this.pulse.awakeSince());
  }

  #see({ metadata: { name }, spec }: Node): void {
    const before = this.#taintedAt.get(name);
    const texts = (spec?.taints ?? []).map(textOf);
    this.#taintedAt.set(name, new Map(texts.map((text) => [text, before?.get(text) ?? this.#clock.steady()])));
  }
}

function textOf({ key, value = '', effect }: Taint): string {
  return `${key}=${value}:${effect}`;
}
