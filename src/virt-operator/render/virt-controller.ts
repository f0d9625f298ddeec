/** Deployment virt-controller: one of its replicas works, the next one takes over. Pure. */
import { COMPONENT_ACCOUNTS } from '../../api/kubevirt/component-accounts.ts';
import { componentDeployment, healthAndMetricsPorts } from './component-pod.ts';
import type { RenderOptions } from './options.ts';

export function renderVirtController(options: RenderOptions) {
  const { namespace, images } = options;
  return componentDeployment('virt-controller', options, {
    maxUnavailable: 1,
    serviceAccountName: COMPONENT_ACCOUNTS['virt-controller'],
    container: {
      args: [`--launcher-image=${images.launcher}`, `--importer-image=${images.importer}`, `--namespace=${namespace}`],
      ports: healthAndMetricsPorts('virt-controller'),
    },
  });
}
