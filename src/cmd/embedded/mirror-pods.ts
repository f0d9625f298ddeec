/** Our components run in this process, not in Pods; Pods that stand for them let others find them as on a cluster. */
import { ENDPOINT_SLICES } from '../../api/core/endpoint-slice.ts';
import { PODS, type Pod } from '../../api/core/pod.ts';
import { INSTALL_NAMESPACE, LABEL_COMPONENT } from '../../api/kubevirt/names.ts';
import type { Clock } from '../../base/clock.ts';
import { timestamp } from '../../base/timestamp.ts';
import type { Client } from '../../client/client.ts';
import { apply } from './apply-manifests.ts';

export type MirroredComponent = { readonly component: string; readonly port?: { readonly name: string; readonly number: number } };

/** Creates or refreshes the Pod that stands for a component of this process. */
export async function mirrorPod(
  client: Client,
  { component, port }: MirroredComponent,
  { nodeName, clock }: { nodeName: string; clock: Clock },
): Promise<void> {
  const name = `${component}-${nodeName}`;
  const image = `kubevirt-ts/${component}:latest`;
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: INSTALL_NAMESPACE,
      labels: { [LABEL_COMPONENT]: component },
      annotations: { 'kubernetes.io/config.mirror': 'embedded' },
    },
    spec: {
      nodeName,
      restartPolicy: 'Always',
      containers: [{ name: component, image, ports: port ? [{ name: port.name, containerPort: port.number, protocol: 'TCP' }] : [] }],
    },
  };
  await client.delete(PODS, { namespace: INSTALL_NAMESPACE, name }, { gracePeriodSeconds: 0 }); // one of an earlier run; ports in a Pod spec cannot change
  await client.create(PODS, pod);
  const now = timestamp(clock.now());
  const conditions = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({
    type,
    status: 'True' as const,
    lastTransitionTime: now,
  }));
  const containerStatuses = [
    { name: component, image, imageID: '', ready: true, started: true, restartCount: 0, state: { running: { startedAt: now } } },
  ];
  const status = {
    phase: 'Running',
    conditions,
    hostIP: '127.0.0.1',
    podIP: '127.0.0.1',
    podIPs: [{ ip: '127.0.0.1' }],
    startTime: now,
    containerStatuses,
  };
  await client.patch(PODS, pod.metadata, { status }, { subresource: 'status' });
}

/** Says where a Service of ours is served. */
export async function publishEndpoint(
  client: Client,
  { service, portName, port }: { service: string; portName?: string; port: number },
): Promise<void> {
  await apply(client, {
    apiVersion: 'discovery.k8s.io/v1',
    kind: ENDPOINT_SLICES.kind,
    metadata: { name: `${service}-embedded`, namespace: INSTALL_NAMESPACE, labels: { 'kubernetes.io/service-name': service } },
    addressType: 'IPv4',
    ports: [{ name: portName ?? '', port, protocol: 'TCP' }],
    endpoints: [{ addresses: ['127.0.0.1'], conditions: { ready: true } }],
  } as never);
}
