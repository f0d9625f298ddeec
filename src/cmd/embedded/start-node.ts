/**
 * One node of the embedded cluster: a kubelet and a virt-handler with a name, a folder and a range of addresses of their own. All nodes are
 * this machine, so each offers only its share of it.
 */

import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import { NODES, type Node } from '../../api/core/node.ts';
import { PODS_FOLDER } from '../../api/core/pod-folder-layout.ts';
import { API_SERVER_ADDRESS } from '../../api/core/service-ranges.ts';
import { HANDLER_PORT_NAME } from '../../api/handler/routes.ts';
import { userNameOf } from '../../api/kubevirt/component-accounts.ts';
import { ANNOTATION_HEARTBEAT, EXTRA_NODE_NAME, LABEL_SCHEDULABLE } from '../../api/kubevirt/names.ts';
import {
  ACCELERATOR_VARIABLE,
  CLUSTER_DNS_VARIABLE,
  GUEST_WAY_OUT_VARIABLE,
  HIDDEN_FOLDERS_VARIABLE,
} from '../../api/launcher/variables.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { MetricFamilies } from '../../base/metrics.ts';
import type { Pki } from '../../base/node/pki.ts';
import type { Client } from '../../client/client.ts';
import type { Identity } from '../../control-plane/apiserver/server-parts.ts';
import type { BuiltInImage } from '../../control-plane/kubelet/built-in-images.ts';
import { imagesInUse, removeRoots } from '../../control-plane/kubelet/images-in-use.ts';
import type { PodUsers } from '../../control-plane/kubelet/pod-users.ts';
import { type Kubelet, startKubelet } from '../../control-plane/kubelet/start.ts';
import { createImagePuller, type ImagePuller } from '../../images/image-puller.ts';
import { openImageStore } from '../../images/store.ts';
import { type HandlerCertificates, startVirtHandler } from '../../virt-handler/start.ts';
import { PLACES } from '../places.ts';
import { builtLauncher } from './built-launcher.ts';
import type { LivePki } from './live-pki.ts';
import { mirrorPod } from './mirror-pods.ts';
import { whyNotImporter } from './why-not-importer.ts';
import { machineOf, whyNotLauncher } from './why-not-launcher.ts';

/** Addresses that this process can listen on: in the namespace all are local, on the host those of the loopback are. */
const POD_NETWORK = { namespace: '10.244', host: '127.244' } as const;

export type NodeOptions = {
  readonly home: string;
  /** From 1. */
  readonly number: number;
  readonly count: number;
  readonly admin: Client;
  /** What a component needs that speaks as this user. */
  readonly as: (
    user: string,
    component: string,
    extra?: Identity['extra'],
  ) => { client: Client; clock: Clock; log: Logger; signal: AbortSignal };
  readonly metrics: MetricFamilies;
  readonly pki: Pki;
  readonly onCertificatesRenewed: LivePki['onRenewed'];
  readonly apiPort: number;
  readonly network: 'namespace' | 'host';
  /** Which history of the store this is. */
  readonly clusterId: string;
  /** Whom Pods run as; left out where we cannot become anybody else. */
  readonly users: PodUsers | undefined;
  /** Guests can have mounts and processes of their own. */
  readonly isIsolating: boolean;
};
export type RunningNode = { readonly name: string; readonly kubelet: Kubelet; readonly stopped: Promise<unknown> };

/** The first node has the name of this machine. */
export function nodeNameOf(number: number): string {
  const name = hostname().toLowerCase();
  return number === 1 ? name : `${name}-${number}`;
}

/** How many nodes this data folder has had: what is there has to be looked after, whatever is asked for now. */
export function countNodes(home: string, wanted: number): number {
  let count = Math.max(1, wanted);
  while (existsSync(folderOf(home, count + 1))) count++;
  return count;
}

/** Resolves when guests can be placed there. */
export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const { home, number, count, admin, as, pki, apiPort, network } = options;
  const name = nodeNameOf(number);
  const rootDir = folderOf(home, number);
  const { clock, signal } = as('', '');
  // As with the token of a Pod there: a virt-handler is believed about the instances of its own node alone.
  const asHandler = as(userNameOf('virt-handler'), 'virt-handler', { [EXTRA_NODE_NAME]: [name] });
  const vmctl: BuiltInImage = {
    path: PLACES.programs,
    entrypoint: 'vmctl',
    programs: ['vmctl'],
    dropsPrivileges: true,
    env: programEnvironment(home),
  };
  const kubelet = startKubelet({
    ...as(`system:node:${name}`, 'kubelet'),
    nodeName: name,
    share: 1 / count,
    // Where there is a loopback of our own, it is closed to Pods.
    apiServerUrl: network === 'namespace' ? `https://${API_SERVER_ADDRESS}` : `https://127.0.0.1:${apiPort}`,
    rootDir,
    clusterId: options.clusterId,
    ...(options.users && { users: options.users }),
    machineOf: (pod) => machineOf(asHandler.client, pod),
    images: openImageStore(join(home, 'images')),
    puller: pullerFor(options),
    podCidr: podRangeOf(number, network),
    builtInImages: {
      'kubevirt-ts/virt-launcher': {
        path: PLACES.programs,
        stopSignal: 'SIGCONT',
        dropsPrivileges: true,
        env: { ...launcherEnvironment(home, network), ...(options.isIsolating && hiddenFolders(home, rootDir)) },
        whyNotFor: (pod) => whyNotLauncher(asHandler.client, pod),
      },
      'kubevirt-ts/virt-importer': {
        path: PLACES.programs,
        dropsPrivileges: true,
        env: programEnvironment(home),
        whyNotFor: (pod) => whyNotImporter(admin, pod),
      },
      'kubevirt-ts/vmctl': vmctl,
      // As the manifests call it that KubeVirt's documents have: these run as they are.
      'quay.io/fabiand/vmctl': vmctl,
    },
  });
  await untilNode(admin, { name, isAsWanted: () => true, signal });
  const startedAt = Math.floor(clock.now() / 1000) * 1000; // times in the API are whole seconds
  const handler = await startVirtHandler({
    ...asHandler,
    nodeName: name,
    kubeletRoot: rootDir,
    runLogsFolder: join(options.home, 'logs', 'guests'),
    usageHistoryFolder: join(options.home, 'usage-history'),
    certs: handlerCertificates(pki),
    host: '127.0.0.1',
    port: 0,
    metrics: options.metrics,
  });
  options.onCertificatesRenewed(() => handler.renewCertificates(handlerCertificates(pki)), signal);
  const isReady = ({ metadata: { labels, annotations } }: Node) =>
    labels?.[LABEL_SCHEDULABLE] === 'true' && Date.parse(annotations?.[ANNOTATION_HEARTBEAT] ?? '') >= startedAt;
  await untilNode(admin, { name, isAsWanted: isReady, signal });
  await mirrorPod(admin, { component: 'virt-handler', port: { name: HANDLER_PORT_NAME, number: handler.port } }, { nodeName: name, clock });
  return { name, kubelet, stopped: Promise.all([handler.stopped, kubelet.stopped]) };
}

function handlerCertificates({ virtHandler, kubevirtCa, migrationClient }: Pki): HandlerCertificates {
  return { ...virtHandler, ca: kubevirtCa, migration: migrationClient };
}

/** Logins are those of whoever runs the cluster. In the namespace its loopback is that of our own components, which no name of an image may reach. */
function pullerFor({ home, count, network }: NodeOptions): ImagePuller {
  const rootDirs = Array.from({ length: count }, (_, index) => folderOf(home, index + 1));
  return createImagePuller({
    dir: join(home, 'images'),
    env: process.env,
    hasHostLoopback: network === 'host',
    cache: { inUse: () => imagesInUse(rootDirs), onRemoved: (digests) => removeRoots(rootDirs, digests) },
  });
}

/** Where its kubelet works. */
export function folderOf(home: string, number: number): string {
  return join(home, number === 1 ? 'kubelet' : `kubelet-${number}`);
}

/** The first node has half of the network, as it had before there were others; each of those has 253 addresses of the other half. */
function podRangeOf(number: number, network: NodeOptions['network']): string {
  const base = POD_NETWORK[network];
  return number === 1 ? `${base}.0.0/17` : `${base}.${126 + number}.0/24`;
}

/** The kubelet passes nothing of our environment on: our programs get the Node that runs us, and a place that only we write to for compiled code. */
function programEnvironment(home: string): Record<string, string> {
  return { NODE: process.execPath, ...(PLACES.releaseFile && { COMPILED_CODE: join(home, 'compiled') }) };
}

/** And the launcher the user's choice of accelerator. */
function launcherEnvironment(home: string, network: NodeOptions['network']): Record<string, string> {
  const accelerator = process.env[ACCELERATOR_VARIABLE];
  const launcher = PLACES.builtLauncher && builtLauncher(PLACES.builtLauncher);
  return {
    ...programEnvironment(home),
    ...(launcher && { LAUNCHER_FILE: launcher }),
    ...(accelerator && { [ACCELERATOR_VARIABLE]: accelerator }),
    // There the loopback of the host would be what a guest reaches first.
    ...(network === 'namespace' && { [CLUSTER_DNS_VARIABLE]: 'embedded' }),
    ...(network === 'host' && { [GUEST_WAY_OUT_VARIABLE]: 'none' }),
  };
}

/** What a guest that has left its QEMU does not see: Pods of others, the rest of our data, and the home of whoever started us. */
function hiddenFolders(home: string, rootDir: string): Record<string, string> {
  const pods = join(rootDir, PODS_FOLDER);
  mkdirSync(pods, { recursive: true }); // the kubelet is about to
  const folders = [pods, home].map((path) => realpathSync(path));
  const own = homedir();
  const isApart = own !== '/' && existsSync(own) && !folders.includes(realpathSync(own));
  return { [HIDDEN_FOLDERS_VARIABLE]: JSON.stringify([...folders, ...(isApart ? [realpathSync(own)] : [])]) };
}

/** A machine that is created the moment we serve must not meet a cluster without a fitting node. */
async function untilNode(
  client: Client,
  wanted: { name: string; isAsWanted: (node: Node) => boolean; signal: AbortSignal },
): Promise<void> {
  const { name, isAsWanted, signal } = wanted;
  for await (const event of client.watch(NODES, { fieldSelector: `metadata.name=${name}`, signal })) {
    if ((event.type === 'ADDED' || event.type === 'MODIFIED') && isAsWanted(event.object)) return;
  }
}
