/** What the API server says of itself under /metrics, by the names that Kubernetes has. */
import { MetricCounter, type MetricFamilies } from '../../../base/metrics.ts';
import type { Attributes } from '../access/policy-rule.ts';
import type { ResourceRegistry } from '../types/resource-registry.ts';

export class RequestMetrics {
  readonly #requests = new MetricCounter({ name: 'apiserver_request_total', help: 'Requests that were answered.' });

  constructor(metrics: MetricFamilies, registry: ResourceRegistry, signal: AbortSignal) {
    metrics.add(this.#requests, signal);
    const served = () => registry.types().filter(({ verbs }) => verbs.includes('list')).length;
    metrics.gauge('apiserver_served_resources', 'Resources that are served, each version for itself.', served, signal);
  }

  /** A resource is named only in an answer that was good: names of what is not there are up to whoever asks. */
  count(attributes: Attributes | undefined, code: number): void {
    const known = attributes?.type === 'resource' && code < 400 ? attributes : undefined;
    this.#requests.add({
      verb: (known?.verb ?? '').toUpperCase(),
      group: known?.group ?? '',
      resource: known?.resource ?? '',
      subresource: known?.subresource ?? '',
      code: String(code),
    });
  }
}
