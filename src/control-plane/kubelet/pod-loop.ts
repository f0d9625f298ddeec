/** Drives every Pod of this node: one look at a time per Pod, woken by the API, by processes that end, and by time. */
import { PODS, type Pod } from '../../api/core/pod.ts';
import type { Cache } from '../../client/cache.ts';
import type { KeyedQueue } from '../../reconcile/queue.ts';
import { decidePod, type PodAction } from './decide.ts';
import type { KubeletContext } from './kubelet-context.ts';
import { listPodUids, podDir, readPodIdentity } from './pod-folder.ts';
import { PodRuntime } from './pod-runtime.ts';
import { derivePodStatus } from './status.ts';
import { writePodStatus } from './write-status.ts';

export const UID_INDEX = 'uid';
const WORKERS = 8;
const LOOK_AROUND_MS = 500;
/** Pods that only show a process which something else looks after. */
const MIRROR = 'kubernetes.io/config.mirror';

export type PodLoopOptions = {
  readonly context: KubeletContext;
  readonly pods: Cache<Pod>;
  readonly queue: KeyedQueue;
  readonly runtimes: Map<string, PodRuntime>;
};

/** Runs until the signal aborts; containers go on without us. */
export async function runPodLoop(options: PodLoopOptions): Promise<void> {
  const { context, pods, queue } = options;
  await pods.synced;
  reserveAddresses(options);
  for (const uid of listPodUids(context.rootDir)) queue.add(uid);
  const unsubscribe = pods.subscribe(({ object }) => queue.add(object.metadata.uid ?? ''));
  try {
    await Promise.all([lookAround(options), ...Array.from({ length: WORKERS }, () => work(options))]);
  } finally {
    unsubscribe();
  }
}

/** Before any other Pod can be given an address that one of these has. */
function reserveAddresses({ context: { rootDir, addresses }, pods }: PodLoopOptions): void {
  for (const uid of listPodUids(rootDir)) {
    const identity = readPodIdentity(podDir(rootDir, uid));
    if (identity) addresses.take(uid, identity.podIP);
  }
  for (const { metadata, status } of pods.list()) if (status?.podIP && metadata.uid) addresses.take(metadata.uid, status.podIP);
}

async function lookAround({ context: { clock, signal }, pods, runtimes }: PodLoopOptions): Promise<void> {
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

async function work(options: PodLoopOptions): Promise<void> {
  const { queue, context } = options;
  for (let uid = await queue.take(); uid !== undefined; uid = await queue.take()) {
    try {
      const lookAgainAfterMs = await look(options, uid);
      queue.forget(uid);
      if (lookAgainAfterMs !== undefined) queue.addAfter(uid, lookAgainAfterMs);
    } catch (error) {
      if (!context.signal.aborted)
        context.log.warn('cannot look after Pod, trying again', { object: uid, failures: queue.retry(uid), error });
    } finally {
      queue.done(uid);
    }
  }
}

/** One look at one Pod; returns when to look again even if nothing happens. */
async function look(options: PodLoopOptions, uid: string): Promise<number | undefined> {
  const { context, runtimes } = options;
  const { pod, isOurs } = await findPod(options, uid);
  if (!isOurs) return undefined;
  const runtime = runtimes.get(uid) ?? new PodRuntime(context, uid, pod);
  if (runtime.isRemoved) {
    if (!pod) runtimes.delete(uid);
    return undefined;
  }
  runtimes.set(uid, runtime);

  const { actions, lookAgainAfterMs } = decidePod(runtime.observe(pod));
  const cleansUp = actions.some((action) => action.do === 'clean up');
  for (const action of actions) if (action.do !== 'clean up') await act(runtime, pod, action);
  const current = pod && (await updatePodStatus(context, runtime, pod));
  if (cleansUp) return cleanUp(options, runtime, current);
  // What was done changes what is seen, except for a kill: there only the end of the process does, and it wakes us.
  return actions.some((action) => action.do !== 'kill') ? 0 : lookAgainAfterMs;
}

/** A Pod that the cache has lost is asked for once more before anything is ended because of it. */
async function findPod({ context, pods, runtimes }: PodLoopOptions, uid: string): Promise<{ pod?: Pod; isOurs: boolean }> {
  const [cached] = pods.byIndex(UID_INDEX, uid);
  const identity = cached?.metadata ?? readPodIdentity(podDir(context.rootDir, uid));
  const found = cached ?? (identity && (await context.client.get(PODS, identity)));
  const pod = found?.metadata.uid === uid ? found : undefined;
  if (pod?.metadata.annotations?.[MIRROR] !== undefined) return { isOurs: false };
  if (pod && pod.spec.nodeName !== context.nodeName) return { isOurs: false };
  return { pod, isOurs: pod !== undefined || runtimes.has(uid) || listPodUids(context.rootDir).includes(uid) };
}

async function act(runtime: PodRuntime, pod: Pod | undefined, action: PodAction): Promise<void> {
  const { do: what, because, ...which } = action;
  runtime.log.info(what, { because, ...which });
  switch (action.do) {
    case 'prepare':
      if (pod) runtime.prepare(pod);
      return;
    case 'start':
      if (pod) await runtime.start(pod, action.container);
      return;
    case 'stop':
      if (pod) runtime.stop(pod, action.container);
      return;
    case 'kill':
      runtime.kill(action.container);
      return;
    case 'clean up':
      return;
  }
}

async function updatePodStatus({ client, hostIP }: KubeletContext, runtime: PodRuntime, pod: Pod): Promise<Pod | undefined> {
  const { containers, volumes, now } = runtime.observe(pod);
  const podIP = runtime.podIP(pod);
  return writePodStatus(client, pod, (latest) => derivePodStatus({ pod: latest, containers, volumes, podIP, hostIP, now }));
}

/** First the folder, then the object: as long as the object is there, somebody is known to be responsible for the folder. */
async function cleanUp({ context, runtimes }: PodLoopOptions, runtime: PodRuntime, pod: Pod | undefined): Promise<undefined> {
  await runtime.cleanUp();
  if (pod) await context.client.delete(PODS, pod.metadata, { uid: runtime.uid, gracePeriodSeconds: 0 });
  else runtimes.delete(runtime.uid);
  runtime.isRemoved = true; // not before the API has agreed: until then all of this is tried again
  runtime.log.info('Pod removed');
}
