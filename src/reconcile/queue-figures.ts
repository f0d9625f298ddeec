/** How much a controller has to do, by the names and labels that KubeVirt publishes. */
import { MetricCounter, type MetricFamilies } from '../base/metrics.ts';

export class QueueFigures {
  readonly #name: string;
  readonly #adds = new MetricCounter({ name: 'kubevirt_workqueue_adds_total', help: 'Objects that were to be looked at.' });
  readonly #retries = new MetricCounter({
    name: 'kubevirt_workqueue_retries_total',
    help: 'Objects that were to be looked at again after a failure.',
  });

  /** Of the controller of this name. */
  constructor(name: string) {
    this.#name = name;
    for (const counter of [this.#adds, this.#retries]) counter.add({ name }, 0);
  }

  observe = (event: 'add' | 'retry'): void => {
    (event === 'add' ? this.#adds : this.#retries).add({ name: this.#name });
  };

  /** Shows them until the signal aborts. */
  addTo(metrics: MetricFamilies, { queue, signal }: { readonly queue: { readonly depth: number }; readonly signal: AbortSignal }): void {
    const depth = () => [{ labels: { name: this.#name }, value: queue.depth }];
    metrics.add({ name: 'kubevirt_workqueue_depth', help: 'Objects that wait to be looked at.', type: 'gauge', samples: depth }, signal);
    for (const counter of [this.#adds, this.#retries]) metrics.add(counter, signal);
  }
}
