/** Renews the tokens in projected volumes as they get old, so that a Pod can run for as long as it likes. */
import { readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isPodFinal, type Pod } from '../../api/core/pod.ts';
import type { Cache } from '../../client/cache.ts';
import type { KubeletContext } from './kubelet-context.ts';
import { podDir, volumeDir } from './pod-folder.ts';
import type { RunAs } from './privileges.ts';
import { requestToken } from './projected-volume.ts';
import { ownerOfPod } from './user-of-pod.ts';
import { giveFile } from './volume-files.ts';

const LOOK_EVERY_MS = 30_000;
/** Renewed when this much of its life is over. */
const OLD_AT = 0.8;

/** Renews the tokens of running Pods until the signal aborts. What an earlier process wrote is looked after as well. */
export async function keepTokensFresh({ context, pods }: { context: KubeletContext; pods: Pick<Cache<Pod>, 'list'> }): Promise<void> {
  const { clock, signal, log } = context;
  while (!signal.aborted) {
    for (const pod of pods.list()) {
      if (isPodFinal(pod) || pod.metadata.deletionTimestamp) continue;
      try {
        await renewTokens(context, pod);
      } catch (error) {
        log.warn('cannot renew a token, trying again', { object: `${pod.metadata.namespace}/${pod.metadata.name}`, error });
      }
    }
    await clock.sleep(LOOK_EVERY_MS, signal);
  }
}

async function renewTokens({ rootDir, client, clock, mayBecome }: KubeletContext, pod: Pod): Promise<void> {
  for (const { name, projected } of pod.spec.volumes ?? []) {
    for (const { serviceAccountToken: source } of projected?.sources ?? []) {
      if (!source) continue;
      const dir = podDir(rootDir, pod.metadata.uid ?? '');
      const path = await realpath(join(volumeDir(dir, 'projected', name), source.path)).catch(() => undefined);
      const token = path && (await readFile(path, 'utf8').catch(() => undefined)); // not brought yet: it will come fresh
      if (path === undefined || token === undefined || !isOld(token, clock.now())) continue;
      await replace(path, await requestToken(client, pod, source), ownerOfPod(dir, pod, mayBecome));
    }
  }
}

function isOld(token: string, nowMs: number): boolean {
  try {
    const { iat, exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as { iat: number; exp: number };
    return nowMs / 1000 >= iat + OLD_AT * (exp - iat);
  } catch {
    return true; // a damaged file is replaced
  }
}

/** In one step: whoever reads sees the old token or the new one. */
async function replace(path: string, content: string, owner: RunAs | undefined): Promise<void> {
  const fresh = join(dirname(path), '.fresh-token');
  await rm(fresh, { force: true });
  await writeFile(fresh, content, { flag: 'wx', mode: 0o600 });
  await giveFile(fresh, owner);
  await rename(fresh, path);
}
