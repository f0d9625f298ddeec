/** Everything that works through the API: the control plane's own parts and the components of the product. */
import { once } from 'node:events';
import { join } from 'node:path';
import { NODES } from '../../api/core/node.ts';
import type { Pod } from '../../api/core/pod.ts';
import { EXPORT_PROXY_SERVICE } from '../../api/exporter/exporter.ts';
import { UPLOAD_PROXY_SERVICE } from '../../api/importer/upload.ts';
import { userNameOf } from '../../api/kubevirt/component-accounts.ts';
import { INSTALL_NAMESPACE } from '../../api/kubevirt/names.ts';
import { wantPower } from '../../api/kubevirt/node-power.ts';
import type { KubeObject } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { MetricFamilies } from '../../base/metrics.ts';
import { whyNotIsolated } from '../../base/node/isolated-command.ts';
import type { Pki } from '../../base/node/pki.ts';
import { podUserRange } from '../../base/node/pod-user-range.ts';
import { identify } from '../../base/node/process-identity.ts';
import { readProcesses } from '../../base/node/process-usage.ts';
import { runGarbageCollector } from '../../control-plane/garbage-collector/controller.ts';
import { openPodUsers } from '../../control-plane/kubelet/pod-users.ts';
import { runNodeLifecycle } from '../../control-plane/node-lifecycle/run.ts';
import { runScheduler } from '../../control-plane/scheduler/controller.ts';
import { runDefaultServiceAccounts, runRoleAggregation, runRootCaPublisher } from '../../control-plane/service-accounts/run.ts';
import { runStorage } from '../../control-plane/volumes/run-storage.ts';
import { runWorkloads, WORKLOAD_READER } from '../../control-plane/workloads/run.ts';
import { startVirtApi } from '../../virt-api/start.ts';
import { runVirtController } from '../../virt-controller/run.ts';
import { isCommonInstancetype } from '../../virt-operator/common-instancetypes/controller.ts';
import { withCaBundle } from '../../virt-operator/render/render.ts';
import { renderValidatingAdmissionPolicies } from '../../virt-operator/render/validating-admission-policies.ts';
import { PLACES } from '../places.ts';
import { VERSION } from '../version.ts';
import { allEnded } from './all-ended.ts';
import { apply, applyManifests } from './apply-manifests.ts';
import { findExportProxy } from './find-export-proxy.ts';
import { ensureKubeVirt, keepKubeVirtStatus } from './keep-kubevirt.ts';
import { keepUploadProxy } from './keep-upload-proxy.ts';
import type { LivePki } from './live-pki.ts';
import { mirrorPod, publishEndpoint } from './mirror-pods.ts';
import { publishApiServer, publishClusterDns, runServiceNetwork } from './network.ts';
import { runNodePower } from './node-power/controller.ts';
import { SwitchableNode } from './node-power/switchable-node.ts';
import { addReadyMetrics } from './ready-metrics.ts';
import { requestHeaderTrust } from './request-header-trust.ts';
import { type Api, INSTALLER } from './start-api.ts';
import { startCommonInstancetypes } from './start-common-instancetypes.ts';
import { countNodes, type NodeOptions, nodeNameOf } from './start-node.ts';
import { VIRT_API_SERVICE, type VirtApiEndpoint } from './virt-api-endpoint.ts';

export type EmbeddedComponentsOptions = {
  readonly home: string;
  readonly api: Api;
  /** What all of them show of themselves. */
  readonly metrics: MetricFamilies;
  /** To be told where virt-api serves. */
  readonly virtApi: VirtApiEndpoint;
  readonly pki: Pki;
  readonly onCertificatesRenewed: LivePki['onRenewed'];
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly apiPort: number;
  readonly network: 'namespace' | 'host';
  readonly nodes: number;
  /** Which history of the store this is. */
  readonly clusterId: string;
  /** False: virt-api alone. */
  readonly runsControllers: boolean;
};

/** Resolves when all of them work, or virt-api alone where controllers are not wanted; `stopped` resolves after the signal, when the last has ended. */
export async function startComponents(options: EmbeddedComponentsOptions): Promise<{ stopped: Promise<void> }> {
  const { home, api, metrics, virtApi, pki, clock, log, signal } = options;
  const nodeName = nodeNameOf(1);
  const isolation = whyNotIsolated(); // asked while other things start
  const admin = api.clientAs(INSTALLER, ['system:masters']);
  const commonInstancetypes = await applyManifests(admin, PLACES.deploy, (object) =>
    isCommonInstancetype(object) ? undefined : withoutSelector(withCaBundle(object, pki.kubevirtCa)),
  );
  await applyManifests(admin, PLACES.embeddedManifests, (object) => object);
  for (const policy of renderValidatingAdmissionPolicies({ namespace: INSTALL_NAMESPACE })) await apply(admin, policy);
  await apply(admin, requestHeaderTrust(pki));

  const as: NodeOptions['as'] = (user, component, extra) => ({
    client: api.clientAs(user, groupsOf(user), extra),
    clock,
    log: log.with({ component }),
    signal,
  });
  // First of all and last to go: every write of an instance asks its webhooks.
  const stopVirtApi = new AbortController();
  const runningVirtApi = await startVirtApi({
    ...as(userNameOf('virt-api'), 'virt-api'),
    signal: stopVirtApi.signal,
    pki,
    host: '127.0.0.1',
    port: 0,
    version: VERSION,
    metrics,
  });
  options.onCertificatesRenewed(() => runningVirtApi.renew({ serving: pki.virtApi }), stopVirtApi.signal);
  for (const service of [VIRT_API_SERVICE, ...FOR_CLIENTS]) await publishEndpoint(admin, { service, port: runningVirtApi.port });
  virtApi.serve({ host: '127.0.0.1', port: runningVirtApi.port });
  const putAway = async (parts: Readonly<Record<string, Promise<unknown>>>) => {
    await allEnded(parts, { signal, clock, log });
    virtApi.stop();
    stopVirtApi.abort();
    await allEnded({ 'virt-api': runningVirtApi.stopped }, { signal, clock, log });
  };
  if (!options.runsControllers) return { stopped: putAway({ signal: signal.aborted ? Promise.resolve() : once(signal, 'abort') }) };
  const accounts = [
    runDefaultServiceAccounts(as('system:serviceaccount:kube-system:service-account-controller', 'service-accounts')),
    runRootCaPublisher({ ...as('system:serviceaccount:kube-system:root-ca-cert-publisher', 'service-accounts'), ca: pki.ca }),
    runRoleAggregation(as('system:serviceaccount:kube-system:clusterrole-aggregation-controller', 'role-aggregation')),
  ];
  const collector = runGarbageCollector(as('system:serviceaccount:kube-system:generic-garbage-collector', 'garbage-collector'));
  const scheduler = runScheduler(as('system:kube-scheduler', 'scheduler'));
  const volumes = runStorage({
    ...as('system:serviceaccount:kube-system:persistent-volume-binder', 'volumes'),
    volumesDir: join(home, 'volumes'),
  });
  const workloads = runWorkloads({
    reader: as(WORKLOAD_READER, 'workloads'),
    as: (account) => as(`system:serviceaccount:kube-system:${account}`, 'workloads'),
  });
  await publishApiServer(admin, options.apiPort);
  if (options.network === 'namespace') await publishClusterDns(admin);
  const services = runServiceNetwork({
    controller: as('system:serviceaccount:kube-system:endpointslice-controller', 'services'),
    proxy: as('system:kube-proxy', 'service-proxy'),
    dns: as('system:serviceaccount:kube-system:coredns', 'dns'),
    network: options.network,
    home,
  });
  const count = countNodes(home, options.nodes);
  const range = podUserRange();
  const users = range && openPodUsers(join(home, 'pod-users.json'), range);
  const whyNot = await isolation;
  if (whyNot !== undefined) log.warn('guests see the files and processes of this machine', { because: whyNot });
  const nodes = Array.from({ length: count }, (_, index) => {
    const number = index + 1;
    return new SwitchableNode({ ...options, admin, as, number, count, users, isIsolating: whyNot === undefined });
  });
  await Promise.all(nodes.map((node) => node.start()));
  // With the cluster all of its nodes start, also those that somebody had stopped.
  await Promise.all(nodes.map(({ name }) => admin.patch(NODES, { name }, wantPower('running'))));
  const power = runNodePower({ ...as(INSTALLER, 'node-power'), client: admin, nodes });
  // After the first beat of every node: to it they have been silent for as long as we were away.
  const lifecycle = runNodeLifecycle(as('system:serviceaccount:kube-system:node-controller', 'node-lifecycle'));
  addReadyMetrics(metrics, {
    isApiReady: () => virtApi.whyNotReady() === undefined,
    areHandlersReady: () => nodes.every((node) => node.power === 'running'),
    signal,
  });
  const controller = runVirtController({
    ...as(userNameOf('virt-controller'), 'virt-controller'),
    metrics,
    readAuthority: async () => pki.kubevirtCa,
    findExternal: () => findExportProxy(admin, pki.kubevirtCa),
  });
  const kubeletOf = ({ spec }: Pod) => {
    const node = nodes.find(({ name }) => name === spec.nodeName);
    if (!node) throw new ApiError('ServiceUnavailable', `there is no node ${spec.nodeName}`);
    return node.kubelet;
  };
  const self = identify(process.pid);
  api.serveMetrics(() => {
    const processes = readProcesses();
    // What we use ourselves is of no Pod; all nodes are here, so the first has it. Guests that we have started are of theirs.
    return nodes.flatMap((node, index) => {
      const others = index === 0 && self ? processes.usageOf(self, 'alone') : undefined;
      return node.power === 'running' ? [{ node: node.name, pods: node.kubelet.podUsages(processes), others }] : [];
    });
  });
  api.serveLogs((pod, request) => kubeletOf(pod).logs(pod, request));
  api.serveStreams(async (pod, asked, connection) => kubeletOf(pod).stream(pod, asked, connection));

  await mirrorPod(admin, { component: 'virt-api', port: { name: 'https', number: runningVirtApi.port } }, { nodeName, clock });
  await mirrorPod(admin, { component: 'virt-controller' }, { nodeName, clock });
  await ensureKubeVirt(admin);
  const installation = keepKubeVirtStatus({ ...as(INSTALLER, 'kubevirt-status'), client: admin });
  const uploadProxy = keepUploadProxy({ ...as(INSTALLER, 'upload-proxy'), client: admin });
  const common = await startCommonInstancetypes({ ...as(INSTALLER, 'common-instancetypes'), client: admin, objects: commonInstancetypes });
  const parts = {
    installation,
    'upload-proxy': uploadProxy,
    'common-instancetypes': common.stopped,
    services,
    'service-accounts': Promise.all(accounts),
    'garbage-collector': collector,
    scheduler,
    'node-lifecycle': lifecycle,
    volumes,
    workloads,
    'virt-controller': controller,
    ...Object.fromEntries(nodes.map((node) => [`node ${node.name}`, power.then(() => node.ended())])),
  };
  return { stopped: putAway(parts) };
}

/** They lead to virt-api, too. */
const FOR_CLIENTS: readonly string[] = [UPLOAD_PROXY_SERVICE, EXPORT_PROXY_SERVICE];

/** Where our Services are served we say ourselves, before there is a node that a Pod could show it for: webhooks are asked from the first write. */
function withoutSelector(object: KubeObject): KubeObject {
  if (object.kind !== 'Service') return object;
  const { spec } = object as KubeObject & { spec: object };
  const isForClients = FOR_CLIENTS.includes(object.metadata.name); // who stand outside of the network of the cluster
  return { ...object, spec: { ...spec, selector: undefined, ...(isForClients && { type: 'NodePort' }) } } as KubeObject;
}

function groupsOf(user: string): readonly string[] {
  const [, kind, namespace] = user.split(':');
  if (kind === 'serviceaccount') return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  return kind === 'node' ? ['system:nodes'] : [];
}
