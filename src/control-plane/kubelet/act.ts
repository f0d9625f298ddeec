/** Does on this node what was decided on a Pod; writes to the API are the loop's. */
import type { PodAction } from './decide.ts';
import type { KubeletContext } from './kubelet-context.ts';
import type { WatchedPod } from './observe.ts';
import { PodRuntime } from './pod-runtime.ts';

export type ActOptions = { readonly context: KubeletContext; readonly runtimes: Map<string, PodRuntime> };

/** Performs one action. What takes long only begins here, and wakes the Pod when it is done. */
export async function actOnPod(action: PodAction, { uid, pod }: WatchedPod, { context, runtimes }: ActOptions): Promise<undefined> {
  if (action.do === 'take over') {
    if (pod) context.addresses.take(uid, pod.status?.podIP);
    if (!runtimes.has(uid)) runtimes.set(uid, new PodRuntime(context, uid, pod));
    return;
  }
  const runtime = runtimes.get(uid);
  switch (action.do) {
    case 'prepare':
      if (pod) runtime?.prepare(pod);
      return;
    case 'start':
      if (pod) await runtime?.start(pod, action.container);
      return;
    case 'stop':
      if (pod) runtime?.stop(pod, action.container);
      return;
    case 'kill':
      runtime?.kill(action.container);
      return;
    case 'clean up':
      await runtime?.cleanUp();
      return;
    case 'forget':
      runtimes.delete(uid);
      return;
  }
}
