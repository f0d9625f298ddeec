/** How Prometheus finds the components, by the names that KubeVirt has. Pure. */
import type { RenderOptions } from './options.ts';

/** Every Pod that has metrics. */
export const MEASURED_LABEL = { 'prometheus.kubevirt.io': 'true' } as const;
export const METRICS_PORT_NAME = 'metrics';
const SERVICE = 'kubevirt-prometheus-metrics';

/** All components behind one name: of use to Prometheus alone, which asks each of them. */
export function renderMetricsService({ namespace }: RenderOptions) {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: SERVICE, namespace, labels: { 'kubevirt.io': '', ...MEASURED_LABEL } },
    spec: {
      clusterIP: 'None',
      selector: MEASURED_LABEL,
      ports: [{ name: METRICS_PORT_NAME, port: 443, targetPort: METRICS_PORT_NAME, protocol: 'TCP' }],
    },
  };
}
