/** The node runtime of an embedded cluster: runs the Pods of one node as processes of this machine and reports on them. */
import { chmodSync, mkdirSync, realpathSync } from 'node:fs';
import { containerNameOf } from '../../api/core/container-name.ts';
import { PODS, type Pod } from '../../api/core/pod.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { type Cgroups, tryCgroups } from '../../base/node/cgroups.ts';
import type { ProcessTable } from '../../base/node/process-usage.ts';
import { startCache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import type { ImagePuller } from '../../images/image-puller.ts';
import { createEventRecorder } from '../../reconcile/events.ts';
import { WakeUps } from '../../reconcile/source.ts';
import { AddressPool } from './address-pool.ts';
import type { BuiltInImages } from './built-in-images.ts';
import { runPodController } from './controller.ts';
import type { ImageSource } from './image-source.ts';
import { keepTokensFresh } from './keep-tokens-fresh.ts';
import { keepVolumesFresh } from './keep-volumes-fresh.ts';
import type { KubeletContext } from './kubelet-context.ts';
import { type PodLogOptions, sinceMsOf, streamLog } from './logs.ts';
import { keepNodeRegistered } from './node-registration.ts';
import { UID_INDEX } from './observe.ts';
import { listPodUids, podDir, podsDir, readPodIdentity } from './pod-folder.ts';
import type { PodRuntime } from './pod-runtime.ts';
import { type PodUsage, podUsages } from './pod-usage.ts';
import type { PodUsers } from './pod-users.ts';
import { type MayBecome, whoWeMayBecome } from './privileges.ts';
import type { StreamUpgrade } from './streams/accept-upgrade.ts';
import { type AskedStream, serveStream } from './streams/serve-stream.ts';

export type KubeletOptions = {
  readonly client: Client;
  readonly nodeName: string;
  /** `$VIRT_HOME/kubelet`; Pods live in `pods/<uid>` below it. */
  readonly rootDir: string;
  /** Which history of the store the API tells. Without it, a Pod that the API does not have is one that was deleted. */
  readonly clusterId?: string;
  readonly images: ImageSource;
  /** Fetches what the store does not have; without one, that is missing. */
  readonly puller?: ImagePuller;
  readonly builtInImages: BuiltInImages;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Given to containers as KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT. */
  readonly apiServerUrl?: string;
  readonly podCidr?: string;
  /** How much of this machine the node offers; all of it when left out. */
  readonly share?: number;
  readonly hostIP?: string;
  /** Whom containers can run as; asked of the system when left out. */
  readonly mayBecome?: MayBecome;
  /** Gives each machine a user of its own; containers run as whom they ask for when left out. */
  readonly users?: PodUsers;
  /** A name that outlives the Pod, when it runs a machine: it keeps its user under this name. */
  readonly machineOf?: (pod: Pod) => Promise<string | undefined>;
};

export type Kubelet = {
  /** The output of a container, for pods/log; throws ApiError before the stream begins. */
  logs(pod: Pod, options?: PodLogOptions): Promise<Response>;
  /** Answers exec and its like of a Pod of this node; throws ApiError before the connection leaves HTTP. */
  stream(pod: Pod, asked: AskedStream, upgrade: StreamUpgrade): Promise<void>;
  /** What the containers of this node use, by a look at the processes of the machine. */
  podUsages(processes: ProcessTable): PodUsage[];
  /** Resolves when the Node object is there and says Ready. */
  readonly registered: Promise<void>;
  /** Resolves after the signal, when nothing is written any more. Containers go on. */
  readonly stopped: Promise<void>;
};

const DEFAULT_POD_CIDR = '10.244.0.0/16';

/** Starts at once and works until the signal aborts. */
export function startKubelet(options: KubeletOptions): Kubelet {
  const { client, nodeName, clock, signal, podCidr = DEFAULT_POD_CIDR } = options;
  mkdirSync(podsDir(options.rootDir), { recursive: true });
  const rootDir = realpathSync(options.rootDir); // one spelling: processes are recognised by it after a restart
  for (const dir of [rootDir, podsDir(rootDir)]) chmodSync(dir, 0o711); // containers of other users pass through
  for (const uid of listPodUids(rootDir)) {
    const user = readPodIdentity(podDir(rootDir, uid))?.user;
    if (user) options.users?.keep(uid, user); // before the first new Pod takes one
  }
  const log = options.log.with({ node: nodeName });
  const changes = new WakeUps();
  const runtimes = new Map<string, PodRuntime>();
  const events = createEventRecorder({ client, clock, log, component: 'kubelet' });
  const context: KubeletContext = {
    ...options,
    rootDir,
    log,
    events,
    apiServerUrl: options.apiServerUrl,
    clusterId: options.clusterId,
    hostIP: options.hostIP ?? '127.0.0.1',
    mayBecome: options.mayBecome ?? whoWeMayBecome(),
    users: options.users,
    puller: options.puller,
    machineOf: options.machineOf,
    cgroups: cgroupsOnce(),
    addresses: new AddressPool(podCidr),
    wake: (uid) => changes.wake(uid),
  };
  const fieldSelector = `spec.nodeName=${nodeName}`;
  const indexes = { [UID_INDEX]: (pod: Pod) => [pod.metadata.uid ?? ''] };
  const pods = startCache({ client, resource: PODS, fieldSelector, indexes, clock, log, signal });
  const { promise: registered, resolve: onRegistered } = Promise.withResolvers<void>();
  const loops = [
    runPodController({ context, pods, changes, runtimes }),
    keepNodeRegistered({ context, podCidr, share: options.share ?? 1, onRegistered }),
    keepTokensFresh({ context, pods }),
    keepVolumesFresh({ context, pods }),
  ];

  return {
    registered,
    stopped: Promise.allSettled(loops).then(() => events.flush()),
    async logs(pod, request = {}) {
      sinceMsOf(request, clock.now());
      const name = containerNameOf(pod, request.container);
      const uid = pod.metadata.uid ?? '';
      const look = () => {
        const container = runtimes.get(uid)?.container(name);
        if (!container) return undefined;
        const { restartCount, run } = container;
        return { restartCount, hasRun: run.is !== 'waiting' || restartCount > 0, isRunning: run.is === 'running' };
      };
      const body = await streamLog({ pod, dir: podDir(rootDir, uid), name, request, look, clock });
      return new Response(body, { headers: { 'content-type': 'text/plain' } });
    },
    podUsages: (processes) => podUsages(pods.list(), runtimes, processes),
    stream: (pod, asked, upgrade) => serveStream({ pod, runtime: runtimes.get(pod.metadata.uid ?? ''), asked, upgrade, clock }),
  };
}

/** Tried when the first container needs them. */
function cgroupsOnce(): () => Cgroups | undefined {
  let found: ReturnType<typeof tryCgroups> | undefined;
  return () => {
    found ??= tryCgroups();
    return 'why' in found ? undefined : found;
  };
}
