/**
 * DaemonSet virt-handler. It is root with one capability: the folders and sockets of guests belong to QEMU's user and are closed to everybody
 * else. Of the node's processes it may read what everybody on the node may (how much they use), and touch none; it needs neither its network nor
 * its devices: those that Pods may have it only tells the kubelet of. Pure.
 */

import { PODS_FOLDER } from '../../api/core/pod-folder-layout.ts';
import { HANDLER_PORT_NAME } from '../../api/handler/routes.ts';
import { COMPONENT_ACCOUNTS } from '../../api/kubevirt/component-accounts.ts';
import { CERTIFICATE_VOLUMES, componentPod, healthAndMetricsPorts, labelsOf, selectorOf } from './component-pod.ts';
import type { RenderOptions } from './options.ts';

const PORT = 8186;
const KUBELET_ROOT = '/var/lib/kubelet';
/** What guests printed in runs that are over. It goes with the Pod: nothing of ours stays on a node. */
const RUN_LOGS = '/var/lib/kubevirt/guest-logs';
/** What guests used lately; as with that, it goes with the Pod. */
const USAGE_HISTORY = '/var/lib/kubevirt/usage-history';
const NODE_PROCESSES = '/host/proc';
const DEVICE_PLUGINS = `${KUBELET_ROOT}/device-plugins`;

export function renderVirtHandler(options: RenderOptions) {
  const { namespace, kubeletRoot = KUBELET_ROOT } = options;
  const { handlerServer, migrationClient, authorities } = CERTIFICATE_VOLUMES;
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'virt-handler', namespace, labels: labelsOf('virt-handler', options) },
    spec: {
      selector: selectorOf('virt-handler'),
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
      template: componentPod('virt-handler', options, {
        serviceAccountName: COMPONENT_ACCOUNTS['virt-handler'],
        securityContext: { runAsUser: 0, runAsGroup: 0, seccompProfile: { type: 'RuntimeDefault' } },
        container: {
          args: [
            `--port=${PORT}`,
            `--kubelet-root=${KUBELET_ROOT}`,
            `--run-logs=${RUN_LOGS}`,
            `--usage-history=${USAGE_HISTORY}`,
            `--node-processes=${NODE_PROCESSES}`,
            `--device-plugins=${DEVICE_PLUGINS}`,
          ],
          env: [{ name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
          ports: [{ name: HANDLER_PORT_NAME, containerPort: PORT, protocol: 'TCP' }, ...healthAndMetricsPorts('virt-handler')],
          securityContext: {
            allowPrivilegeEscalation: false,
            capabilities: { drop: ['ALL'], add: ['DAC_OVERRIDE'] },
            readOnlyRootFilesystem: true,
          },
          volumeMounts: [
            handlerServer.mount,
            migrationClient.mount,
            authorities.mount,
            { name: 'run-logs', mountPath: RUN_LOGS },
            { name: 'usage-history', mountPath: USAGE_HISTORY },
            { name: 'processes', mountPath: NODE_PROCESSES, readOnly: true },
            { name: 'device-plugins', mountPath: DEVICE_PLUGINS },
            // Secrets of launcher Pods are mounts of their own, made after virt-handler started.
            { name: 'pods', mountPath: `${KUBELET_ROOT}/${PODS_FOLDER}`, mountPropagation: 'HostToContainer' },
          ],
        },
        volumes: [
          handlerServer.volume,
          migrationClient.volume,
          authorities.volume,
          { name: 'pods', hostPath: { path: `${kubeletRoot}/${PODS_FOLDER}`, type: 'Directory' } },
          { name: 'processes', hostPath: { path: '/proc', type: 'Directory' } },
          { name: 'device-plugins', hostPath: { path: `${kubeletRoot}/device-plugins`, type: 'DirectoryOrCreate' } },
          { name: 'run-logs', emptyDir: {} },
          { name: 'usage-history', emptyDir: {} },
        ],
      }),
    },
  };
}
