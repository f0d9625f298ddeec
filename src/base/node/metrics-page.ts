/**
 * Families as the text that Prometheus reads. The library that writes it is loaded when somebody looks for the first time: it takes 10 MB, and most
 * installations have nobody who looks.
 */
import type { MetricFamilies, MetricFamily } from '../metrics.ts';

export type MetricsPage = { readonly contentType: string; readonly text: string };

/** Of one family; what is beyond is cut off, so that no mistake fills the memory of whoever collects. */
const MOST_SAMPLES = 20_000;
const MOST_LABEL_CHARACTERS = 512;

/** What a component says of itself besides its own: version and process. */
export function addProcessMetrics(metrics: MetricFamilies, { version }: { readonly version: string }): void {
  const info = { labels: { goversion: '', kubeversion: version }, value: 1 };
  metrics.add({ name: 'kubevirt_info', help: 'Version of the installation.', type: 'gauge', samples: () => [info] });
  metrics.gauge('process_resident_memory_bytes', 'Resident memory of the process.', () => process.memoryUsage.rss());
  metrics.gauge('process_start_time_seconds', 'When the process was started.', () => Math.round(Date.now() / 1000 - process.uptime()));
  const cpu = () => [{ value: (process.cpuUsage().user + process.cpuUsage().system) / 1e6 }];
  metrics.add({ name: 'process_cpu_seconds_total', help: 'Processor time of the process.', type: 'counter', samples: cpu });
}

export async function renderMetrics(metrics: MetricFamilies): Promise<MetricsPage> {
  const { Registry } = (await import('prom-client')).default;
  const registry = new Registry();
  for (const family of metrics.all()) registry.registerMetric(metricOf(family) as never); // of a metric it calls what is here
  return { contentType: registry.contentType, text: await registry.metrics() };
}

/** As a response to GET. */
export async function respondMetrics(metrics: MetricFamilies): Promise<Response> {
  const { contentType, text } = await renderMetrics(metrics);
  return new Response(text, { headers: { 'content-type': contentType } });
}

function metricOf({ name, help, type, samples }: MetricFamily) {
  return {
    name,
    get: async () => {
      const values = (await samples()).slice(0, MOST_SAMPLES).map(({ value, labels = {}, suffix = '' }) => ({
        value,
        labels: shortened(labels),
        metricName: `${name}${suffix}`,
      }));
      return { name, help, type, values, aggregator: 'omit' };
    },
  };
}

function shortened(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  if (Object.values(labels).every(({ length }) => length <= MOST_LABEL_CHARACTERS)) return labels;
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, value.slice(0, MOST_LABEL_CHARACTERS)]));
}
