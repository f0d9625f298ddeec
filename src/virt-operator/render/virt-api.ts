/** Deployment virt-api: the server of webhooks and of the aggregated API. Pure. */
import { COMPONENT_ACCOUNTS } from '../../api/kubevirt/component-accounts.ts';
import { CERTIFICATE_VOLUMES, componentDeployment, healthAndMetricsPorts } from './component-pod.ts';
import type { RenderOptions } from './options.ts';

const PORT = 8443;
/** A Pod that ends is still asked until everybody has heard of it: new calls are answered that long. */
const STILL_ASKED_SECONDS = 5;

export function renderVirtApi(options: RenderOptions) {
  const { virtApi, handlerClient, authorities } = CERTIFICATE_VOLUMES;
  return componentDeployment('virt-api', options, {
    maxUnavailable: 0,
    serviceAccountName: COMPONENT_ACCOUNTS['virt-api'],
    terminationGracePeriodSeconds: 30,
    container: {
      args: [`--port=${PORT}`, `--tools-image=${options.images.tools}`],
      ports: [{ name: 'https', containerPort: PORT, protocol: 'TCP' }, ...healthAndMetricsPorts('virt-api')],
      lifecycle: { preStop: { exec: { command: ['sleep', String(STILL_ASKED_SECONDS)] } } },
      readinessProbe: { httpGet: { path: '/readyz', port: 'https', scheme: 'HTTPS' }, periodSeconds: 5, timeoutSeconds: 5 },
      volumeMounts: [virtApi.mount, handlerClient.mount, authorities.mount],
    },
    volumes: [virtApi.volume, handlerClient.volume, authorities.volume],
  });
}
