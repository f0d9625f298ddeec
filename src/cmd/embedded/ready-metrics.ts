/** Whether the components in this process do their work, by the names that KubeVirt publishes: on a cluster each of them says so of itself. */
import type { MetricFamilies } from '../../base/metrics.ts';

export type ReadyComponents = {
  readonly isApiReady: () => boolean;
  /** Of every node of the cluster. */
  readonly areHandlersReady: () => boolean;
  readonly signal: AbortSignal;
};

/** Until the signal aborts. virt-controller works for as long as its process does, alone. */
export function addReadyMetrics(metrics: MetricFamilies, { isApiReady, areHandlersReady, signal }: ReadyComponents): void {
  const add = (name: string, is: () => boolean) =>
    metrics.gauge(`kubevirt_${name}_ready_status`, `Whether ${name.replace('_', '-')} does its work.`, () => Number(is()), signal);
  add('virt_api', isApiReady);
  add('virt_controller', () => true);
  add('virt_handler', areHandlersReady);
  metrics.gauge('kubevirt_virt_controller_leading_status', 'Whether this one of its replicas works.', () => 1, signal);
}
