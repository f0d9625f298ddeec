/** Brings changed Secrets and ConfigMaps to Pods that already run, as a kubelet does within a minute. */
import { isPodFinal, type Pod } from '../../api/core/pod.ts';
import { messageOf } from '../../base/errors.ts';
import type { Cache } from '../../client/cache.ts';
import type { KubeletContext } from './kubelet-context.ts';
import { podDir } from './pod-folder.ts';
import { ownerOfPod } from './user-of-pod.ts';
import { refreshVolumes } from './volumes.ts';

const LOOK_EVERY_MS = 10_000;

/** Runs until the signal aborts. */
export async function keepVolumesFresh({ context, pods }: { context: KubeletContext; pods: Pick<Cache<Pod>, 'list'> }): Promise<void> {
  const { clock, signal, log, rootDir, client, mayBecome } = context;
  while (!signal.aborted) {
    await clock.sleep(LOOK_EVERY_MS, signal);
    // A Pod that does not run yet gets its volumes from whoever starts it.
    for (const pod of signal.aborted ? [] : pods.list().filter(({ status }) => status?.phase === 'Running')) {
      if (isPodFinal(pod) || pod.metadata.deletionTimestamp) continue;
      try {
        const dir = podDir(rootDir, pod.metadata.uid ?? '');
        await refreshVolumes({ pod, dir, client, owner: ownerOfPod(dir, pod, mayBecome) });
      } catch (error) {
        // An object that is gone leaves its last values to the Pods that have them.
        log.debug('cannot bring a volume up to date', {
          object: `${pod.metadata.namespace}/${pod.metadata.name}`,
          error: messageOf(error),
        });
      }
    }
  }
}
