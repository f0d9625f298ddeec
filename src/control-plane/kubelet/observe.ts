/** Gathers what `decide` looks at: the Pod from the API, and what is known of its processes here. */
import { PODS, type Pod } from '../../api/core/pod.ts';
import type { KubeObject } from '../../api/meta.ts';
import type { Cache } from '../../client/cache.ts';
import type { KubeletContext } from './kubelet-context.ts';
import type { ObservedPod } from './observed.ts';
import { listPodUids, podDir, readPodIdentity } from './pod-folder.ts';
import type { PodRuntime } from './pod-runtime.ts';

export type PodSources = {
  readonly context: KubeletContext;
  /** Those of this node, indexed by `UID_INDEX`. */
  readonly pods: Cache<Pod>;
  readonly runtimes: ReadonlyMap<string, PodRuntime>;
};
/** Whose events these are: the Pod, or what is known of one that the API has lost. */
export type WatchedPod = ObservedPod & { readonly uid: string; readonly subject: KubeObject };

export const UID_INDEX = 'uid';
/** Pods that only show a process which something else looks after. */
const MIRROR = 'kubernetes.io/config.mirror';

/** One Pod as it is now; undefined when it is not ours to look after. */
export async function observePod(uid: string, sources: PodSources): Promise<WatchedPod | undefined> {
  const { context, runtimes } = sources;
  const { pod, identity, isOurs } = await findPod(uid, sources);
  if (!isOurs) return undefined;
  const { namespace, name = uid } = identity ?? {};
  const subject = pod ?? { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name, uid } };
  const runtime = runtimes.get(uid);
  const podIP = context.addresses.of(uid);
  const { hostIP, clock } = context;
  if (runtime?.isCleanedUp) return { uid, subject, pod, containers: [], volumes: 'absent', isCleanedUp: true, hostIP, now: clock.now() };
  if (!runtime || (pod && podIP === undefined))
    return { uid, subject, pod, containers: [], volumes: 'absent', isNew: true, hostIP, now: clock.now() };
  return { uid, subject, pod, ...runtime.observe(pod), podIP, hostIP, now: clock.now() };
}

type Found = { readonly pod?: Pod | undefined; readonly identity?: { readonly namespace?: string; readonly name: string } | undefined } & {
  readonly isOurs: boolean;
};

/** A Pod that the cache has lost is asked for once more before anything is ended because of it. */
async function findPod(uid: string, { context, pods, runtimes }: PodSources): Promise<Found> {
  const [cached] = pods.byIndex(UID_INDEX, uid);
  const identity = cached?.metadata ?? readPodIdentity(podDir(context.rootDir, uid));
  const found = cached ?? (identity && (await context.client.get(PODS, identity)));
  const pod = found?.metadata.uid === uid ? found : undefined;
  if (pod?.metadata.annotations?.[MIRROR] !== undefined) return { isOurs: false };
  if (pod && pod.spec.nodeName !== context.nodeName) return { isOurs: false };
  return { pod, identity, isOurs: pod !== undefined || runtimes.has(uid) || listPodUids(context.rootDir).includes(uid) };
}
