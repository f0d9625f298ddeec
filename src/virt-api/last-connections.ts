/** When somebody last entered an instance through this virt-api, by the name and labels that KubeVirt publishes. */
import type { Clock } from '../base/clock.ts';
import type { MetricFamily, MetricSample } from '../base/metrics.ts';
import type { ResourceAttributes } from './require-access.ts';

/** What is counted as entering. */
const ENTERS: ReadonlySet<string | undefined> = new Set(['console', 'vnc', 'portforward']);
/** Beyond, the one that was entered first is forgotten. */
const MOST = 10_000;

export class LastConnections implements MetricFamily {
  readonly name = 'kubevirt_vmi_last_api_connection_timestamp_seconds';
  readonly help = 'When somebody last opened a console, a screen or a port of the instance.';
  readonly type = 'gauge';
  readonly #clock: Pick<Clock, 'now'>;
  readonly #last = new Map<string, MetricSample>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  observe = ({ subresource, namespace, name = '' }: ResourceAttributes): void => {
    if (!ENTERS.has(subresource)) return;
    const key = `${namespace}/${name}`;
    this.#last.delete(key);
    this.#last.set(key, { labels: { namespace, vmi: name }, value: Math.round(this.#clock.now() / 1000) });
    const [oldest] = this.#last.keys();
    if (oldest !== undefined && this.#last.size > MOST) this.#last.delete(oldest);
  };

  samples = (): readonly MetricSample[] => [...this.#last.values()];
}
