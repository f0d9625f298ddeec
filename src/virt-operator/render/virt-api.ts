/** Deployment virt-api: the server of webhooks and of the aggregated API. Pure. */
import { apart, CERTIFICATE_VOLUMES, componentPod, labelsOf, METRICS_PORT, selectorOf } from './component-pod.ts';
import type { RenderOptions } from './options.ts';

const PORT = 8443;
/** A Pod that ends is still asked until everybody has heard of it: new calls are answered that long. */
const STILL_ASKED_SECONDS = 5;

export function renderVirtApi(options: RenderOptions) {
  const { namespace, replicas = 2 } = options;
  const { virtApi, handlerClient, authorities } = CERTIFICATE_VOLUMES;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'virt-api', namespace, labels: labelsOf('virt-api', options) },
    spec: {
      replicas,
      selector: selectorOf('virt-api'),
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      template: componentPod('virt-api', options, {
        serviceAccountName: 'kubevirt-apiserver',
        affinity: apart('virt-api'),
        terminationGracePeriodSeconds: 30,
        container: {
          args: [`--port=${PORT}`],
          ports: [{ name: 'https', containerPort: PORT, protocol: 'TCP' }, METRICS_PORT],
          lifecycle: { preStop: { exec: { command: ['sleep', String(STILL_ASKED_SECONDS)] } } },
          readinessProbe: { httpGet: { path: '/readyz', port: 'https', scheme: 'HTTPS' }, periodSeconds: 5, timeoutSeconds: 5 },
          volumeMounts: [virtApi.mount, handlerClient.mount, authorities.mount],
        },
        volumes: [virtApi.volume, handlerClient.volume, authorities.volume],
      }),
    },
  };
}
