/** Deployment virt-controller: one of its replicas works, the next one takes over. Pure. */
import { apart, componentPod, labelsOf, METRICS_PORT, selectorOf } from './component-pod.ts';
import type { RenderOptions } from './options.ts';

export function renderVirtController(options: RenderOptions) {
  const { namespace, images, replicas = 2 } = options;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'virt-controller', namespace, labels: labelsOf('virt-controller', options) },
    spec: {
      replicas,
      selector: selectorOf('virt-controller'),
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 1 } },
      template: componentPod('virt-controller', options, {
        serviceAccountName: 'kubevirt-controller',
        affinity: apart('virt-controller'),
        container: { args: [`--launcher-image=${images.launcher}`, `--namespace=${namespace}`], ports: [METRICS_PORT] },
      }),
    },
  };
}
