/** How many consoles, screens and forwarded ports are open through this virt-api, by the names and labels that KubeVirt publishes. */
import type { MetricFamilies } from '../base/metrics.ts';
import type { OpenStream } from './stream-access.ts';

type Family = { readonly subresource: string; readonly name: string; readonly help: string };

const FAMILIES: readonly Family[] = [
  { subresource: 'console', name: 'kubevirt_console_active_connections', help: 'Serial consoles that are open.' },
  { subresource: 'vnc', name: 'kubevirt_vnc_active_connections', help: 'Screens that are open.' },
  { subresource: 'portforward', name: 'kubevirt_portforward_active_tunnels', help: 'Forwarded ports that are open.' },
];

/** Shows them until the signal aborts. */
export function addStreamMetrics(metrics: MetricFamilies, streams: { open(): readonly OpenStream[] }, signal: AbortSignal): void {
  for (const { subresource, ...family } of FAMILIES) {
    const samples = () => {
      const counts = new Map<string, { readonly labels: Record<string, string>; value: number }>();
      for (const { attributes, count } of streams.open()) {
        if (attributes.subresource !== subresource) continue;
        const { namespace, name = '' } = attributes;
        const counted = counts.get(`${namespace}/${name}`) ?? { labels: { namespace, vmi: name }, value: 0 };
        counted.value += count;
        counts.set(`${namespace}/${name}`, counted);
      }
      return [...counts.values()];
    };
    metrics.add({ ...family, type: 'gauge', samples }, signal);
  }
}
