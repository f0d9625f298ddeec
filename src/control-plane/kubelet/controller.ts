/** Drives every Pod of this node: one look at a time per Pod, woken by the API, by processes that end, and by time. */
import type { Pod } from '../../api/core/pod.ts';
import type { Cache } from '../../client/cache.ts';
import { runController } from '../../reconcile/controller.ts';
import { changesOf, type Source } from '../../reconcile/source.ts';
import { decidePod, type PodAction } from './decide.ts';
import type { KubeletContext } from './kubelet-context.ts';
import { observePod, UID_INDEX, type WatchedPod } from './observe.ts';
import { listPodUids, podDir, readPodIdentity } from './pod-folder.ts';
import { PodRuntime } from './pod-runtime.ts';

const WORKERS = 8;
const LOOK_AROUND_MS = 500;

export type PodControllerOptions = {
  readonly context: KubeletContext;
  readonly pods: Cache<Pod>;
  /** Tells of Pods whose processes, volumes or probes have changed. */
  readonly changes: Source;
  readonly runtimes: Map<string, PodRuntime>;
};

/** Runs until the signal aborts; containers go on without us. */
export async function runPodController(options: PodControllerOptions): Promise<void> {
  const { context, pods } = options;
  const loop = runController<WatchedPod, PodAction>({
    ...context,
    name: 'kubelet',
    triggers: [changesOf(pods, ({ metadata }) => [metadata.uid ?? '']), podsOfThisNode(options)],
    observe: (uid) => observePod(uid, options),
    decide: decidePod,
    act: (action, observed) => actOnPod(action, observed, options),
    subject: ({ subject }) => subject,
    workers: WORKERS,
  });
  await Promise.all([loop, lookAround(options)]);
}

/** Who looks after a Pod is settled here; what happens to its containers is up to them. */
async function actOnPod(action: PodAction, { uid, pod }: WatchedPod, { context, runtimes }: PodControllerOptions): Promise<undefined> {
  switch (action.do) {
    case 'take over':
      if (pod) context.addresses.take(uid, pod.status?.podIP);
      if (!runtimes.has(uid)) runtimes.set(uid, new PodRuntime(context, uid, pod));
      return;
    case 'forget':
      runtimes.delete(uid);
      return;
    case 'prepare':
    case 'start':
    case 'stop':
    case 'kill':
    case 'clean up':
      await runtimes.get(uid)?.act(action, pod);
      return;
  }
}

/** Also Pods that only left a folder: the API may have forgotten them while nobody was here. */
function podsOfThisNode(options: PodControllerOptions): Source {
  const { context, pods, changes } = options;
  return {
    synced: pods.synced.then(() => reserveAddresses(options)),
    subscribe: (wake) => {
      for (const uid of listPodUids(context.rootDir)) wake(uid);
      return changes.subscribe(wake);
    },
  };
}

/** Before any other Pod can be given an address that one of these has. */
function reserveAddresses({ context: { rootDir, addresses }, pods }: PodControllerOptions): void {
  for (const uid of listPodUids(rootDir)) {
    const identity = readPodIdentity(podDir(rootDir, uid));
    if (identity) addresses.take(uid, identity.podIP);
  }
  for (const { metadata, status } of pods.list()) if (status?.podIP && metadata.uid) addresses.take(metadata.uid, status.podIP);
}

async function lookAround({ context: { clock, signal }, pods, runtimes }: PodControllerOptions): Promise<void> {
  while (!signal.aborted) {
    for (const runtime of runtimes.values()) {
      try {
        runtime.lookAround(pods.byIndex(UID_INDEX, runtime.uid)[0]);
      } catch (error) {
        runtime.log.warn('cannot look after containers', { error });
      }
    }
    await clock.sleep(LOOK_AROUND_MS, signal);
  }
}
