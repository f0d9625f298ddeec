/** What was recommended and done for each autoscaler while this process runs: five minutes of it keep a target from going down too soon. */
import { LONGEST_WINDOW_MS } from './behavior.ts';
import type { Past } from './observed.ts';

const NOTHING: Past = { recommendations: [], changes: [] };

export class AutoscalerMemory {
  readonly #pasts = new Map<string, Past>();

  /** A target that is first seen has, for all we know, been of the right size. */
  of(key: string, current: { readonly replicas: number; readonly atMs: number }): Past {
    const known = this.#pasts.get(key);
    if (known) return known;
    const first = { ...NOTHING, recommendations: [current] };
    this.#pasts.set(key, first);
    return first;
  }

  recommended(key: string, replicas: number, atMs: number): void {
    const { recommendations, changes } = this.#pasts.get(key) ?? NOTHING;
    const last = recommendations.at(-1);
    // One that says the same as the two before it moves the last one on: what is kept is bounded by how often it changes.
    const isMore = last?.replicas === replicas && recommendations.at(-2)?.replicas === replicas;
    this.#pasts.set(key, {
      recommendations: [...recent(isMore ? recommendations.slice(0, -1) : recommendations, atMs), { replicas, atMs }],
      changes,
    });
  }

  scaled(key: string, by: number, atMs: number): void {
    const { recommendations, changes } = this.#pasts.get(key) ?? NOTHING;
    this.#pasts.set(key, { recommendations, changes: [...recent(changes, atMs), { by, atMs }] });
  }

  forget(key: string): void {
    this.#pasts.delete(key);
  }
}

function recent<T extends { readonly atMs: number }>(all: readonly T[], now: number): T[] {
  return all.filter(({ atMs }) => atMs > now - LONGEST_WINDOW_MS);
}
