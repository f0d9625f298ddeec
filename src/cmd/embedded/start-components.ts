/** Everything that works through the API: the control plane's own parts and the components of the product. */
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { NODES, type Node } from '../../api/core/node.ts';
import { LABEL_SCHEDULABLE } from '../../api/kubevirt/names.ts';
import type { KubeObject } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Pki } from '../../base/node/pki.ts';
import type { Client } from '../../client/client.ts';
import { startGarbageCollector } from '../../control-plane/garbage-collector/controller.ts';
import { startKubelet } from '../../control-plane/kubelet/start.ts';
import { startScheduler } from '../../control-plane/scheduler/controller.ts';
import { startDefaultServiceAccounts, startRoleAggregation, startRootCaPublisher } from '../../control-plane/service-accounts/start.ts';
import { startVolumes } from '../../control-plane/volumes/start.ts';
import { openImageStore } from '../../images/store.ts';
import { startVirtApi } from '../../virt-api/start.ts';
import { startVirtController } from '../../virt-controller/start.ts';
import { startVirtHandler } from '../../virt-handler/start.ts';
import { VERSION } from '../version.ts';
import { allEnded } from './all-ended.ts';
import { apply, applyManifests } from './apply-manifests.ts';
import { mirrorPod, publishEndpoint } from './mirror-pods.ts';
import { publishApiServer, startServiceNetwork } from './network.ts';
import { requestHeaderTrust } from './request-header-trust.ts';
import { type Api, INSTALLER } from './start-api.ts';

const PROJECT = resolve(import.meta.dirname, '../../..');
/** Addresses that this process can listen on: in the namespace all are local, on the host those of the loopback are. */
const POD_CIDR = { namespace: '10.244.0.0/16', host: '127.244.0.0/16' } as const;

export type ComponentOptions = {
  readonly home: string;
  readonly api: Api;
  readonly pki: Pki;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly apiPort: number;
  readonly network: 'namespace' | 'host';
};

/** Resolves when all of them work; `stopped` resolves after the signal, when the last has ended. */
export async function startComponents(options: ComponentOptions): Promise<{ stopped: Promise<void> }> {
  const { home, api, pki, clock, log, signal } = options;
  const nodeName = hostname().toLowerCase();
  const admin = api.clientAs(INSTALLER, ['system:masters']);
  await applyManifests(admin, join(PROJECT, 'deploy'), (object) => withoutSelector(withCaBundle(object, pki)));
  await applyManifests(admin, join(import.meta.dirname, 'manifests'), (object) => object);
  await apply(admin, requestHeaderTrust(pki));

  const as = (user: string, component: string) => ({
    client: api.clientAs(user, groupsOf(user)),
    clock,
    log: log.with({ component }),
    signal,
  });
  // First of all and last to go: every write of an instance asks its webhooks.
  const stopVirtApi = new AbortController();
  const virtApi = await startVirtApi({
    ...as('system:serviceaccount:kubevirt:kubevirt-apiserver', 'virt-api'),
    signal: stopVirtApi.signal,
    pki,
    host: '127.0.0.1',
    port: 0,
    version: VERSION,
  });
  await publishEndpoint(admin, { service: 'virt-api', port: virtApi.port });
  const accounts = [
    startDefaultServiceAccounts(as('system:serviceaccount:kube-system:service-account-controller', 'service-accounts')),
    startRootCaPublisher({ ...as('system:serviceaccount:kube-system:root-ca-cert-publisher', 'service-accounts'), ca: pki.ca }),
    startRoleAggregation(as('system:serviceaccount:kube-system:clusterrole-aggregation-controller', 'role-aggregation')),
  ];
  const collector = startGarbageCollector(as('system:serviceaccount:kube-system:generic-garbage-collector', 'garbage-collector'));
  const scheduler = startScheduler(as('system:kube-scheduler', 'scheduler'));
  const volumes = startVolumes({
    ...as('system:serviceaccount:kube-system:persistent-volume-binder', 'volumes'),
    volumesDir: join(home, 'volumes'),
  });
  await publishApiServer(admin, options.apiPort);
  const services = startServiceNetwork({
    controller: as('system:serviceaccount:kube-system:endpointslice-controller', 'services'),
    proxy: as('system:kube-proxy', 'service-proxy'),
    network: options.network,
  });
  const kubelet = await startKubelet({
    ...as(`system:node:${nodeName}`, 'kubelet'),
    nodeName,
    apiServerUrl: `https://127.0.0.1:${options.apiPort}`,
    rootDir: join(home, 'kubelet'),
    images: await openImageStore(join(home, 'images')),
    podCidr: POD_CIDR[options.network],
    builtInImages: {
      'kubevirt-ts/virt-launcher': { path: join(PROJECT, 'bin'), stopSignal: 'SIGCONT', dropsPrivileges: true, env: launcherEnvironment() },
      'kubevirt-ts/vmctl': { path: join(PROJECT, 'bin'), entrypoint: 'vmctl', dropsPrivileges: true, env: { NODE: process.execPath } },
    },
  });
  api.serveLogs(kubelet.logs);
  await untilNode(admin, { nodeName, isAsWanted: () => true, signal });
  const controller = startVirtController(as('system:serviceaccount:kubevirt:kubevirt-controller', 'virt-controller'));
  const handler = await startVirtHandler({
    ...as('system:serviceaccount:kubevirt:kubevirt-handler', 'virt-handler'),
    nodeName,
    kubeletRoot: join(home, 'kubelet'),
    certs: { cert: pki.virtHandler.cert, key: pki.virtHandler.key, ca: pki.kubevirtCa },
    host: '127.0.0.1',
    port: 0,
  });
  await untilNode(admin, { nodeName, isAsWanted: (node) => node.metadata.labels?.[LABEL_SCHEDULABLE] === 'true', signal });

  await mirrorPod(admin, { component: 'virt-handler', port: { name: 'console', number: handler.consolePort } }, { nodeName, clock });
  await mirrorPod(admin, { component: 'virt-api', port: { name: 'https', number: virtApi.port } }, { nodeName, clock });
  await mirrorPod(admin, { component: 'virt-controller' }, { nodeName, clock });
  const parts = {
    services,
    'service-accounts': Promise.all(accounts),
    'garbage-collector': collector,
    scheduler,
    volumes,
    'virt-controller': controller,
    'virt-handler': handler.stopped,
    kubelet: kubelet.stopped,
  };
  const stopped = allEnded(parts, { signal, clock, log }).then(() => {
    stopVirtApi.abort();
    return allEnded({ 'virt-api': virtApi.stopped }, { signal, clock, log });
  });
  return { stopped };
}

/** The kubelet passes nothing of our environment on: the launcher gets the Node that runs us, and the user's choice of accelerator. */
function launcherEnvironment(): Record<string, string> {
  const accelerator = process.env['KUBEVIRT_ACCEL'];
  return { NODE: process.execPath, ...(accelerator ? { KUBEVIRT_ACCEL: accelerator } : {}) };
}

/** A machine that is created the moment we serve must not meet a cluster without a fitting node. */
async function untilNode(
  client: Client,
  wanted: { nodeName: string; isAsWanted: (node: Node) => boolean; signal: AbortSignal },
): Promise<void> {
  const { nodeName, isAsWanted, signal } = wanted;
  for await (const event of client.watch(NODES, { fieldSelector: `metadata.name=${nodeName}`, signal })) {
    if ((event.type === 'ADDED' || event.type === 'MODIFIED') && isAsWanted(event.object)) return;
  }
}

/** The authority behind virt-api is made on this machine, so the manifest cannot know it. */
function withCaBundle(object: KubeObject, pki: Pki): KubeObject {
  const caBundle = Buffer.from(pki.kubevirtCa).toString('base64');
  const { kind, spec, webhooks } = object as KubeObject & { spec?: object; webhooks?: readonly { clientConfig: object }[] };
  if (kind === 'APIService') return { ...object, spec: { ...spec, caBundle } } as KubeObject;
  if (!webhooks) return object;
  return { ...object, webhooks: webhooks.map((each) => ({ ...each, clientConfig: { ...each.clientConfig, caBundle } })) } as KubeObject;
}

/** Where our Services are served we say ourselves, before there is a node that a Pod could show it for: webhooks are asked from the first write. */
function withoutSelector(object: KubeObject): KubeObject {
  if (object.kind !== 'Service') return object;
  const { spec } = object as KubeObject & { spec: object };
  return { ...object, spec: { ...spec, selector: undefined } } as KubeObject;
}

function groupsOf(user: string): readonly string[] {
  const [, kind, namespace] = user.split(':');
  if (kind === 'serviceaccount') return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  return kind === 'node' ? ['system:nodes'] : [];
}
