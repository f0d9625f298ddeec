/** Pods of a data folder that have processes, told by the processes themselves: whatever the store says, and whether a cluster runs or not. */
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { type PodRecord, readPodRecord } from './pod-record.ts';
import { findByVariable, type ProcessIdentity, readVariable } from './process-identity.ts';
import { SANDBOX_VARIABLE } from './sandbox-path.ts';

export type LivingPod = {
  readonly uid: string;
  /** Its folder. */
  readonly dir: string;
  readonly record: PodRecord | undefined;
  readonly containers: readonly {
    readonly process: ProcessIdentity /** What it sees as the root of its mounts. */;
    readonly sandbox: string;
  }[];
};

/** Every Pod of this data folder with a process that runs now. */
export function livingPods(home: string): readonly LivingPod[] {
  if (!existsSync(home)) return [];
  const root = realpathSync(home);
  const pods = new Map<string, { uid: string; dir: string; containers: { process: ProcessIdentity; sandbox: string }[] }>();
  for (const process of findByVariable(SANDBOX_VARIABLE, (path) => path.startsWith(`${root}/`))) {
    const sandbox = readVariable(process.pid, SANDBOX_VARIABLE) ?? '';
    const [, kubelet, uid] = /^\/(kubelet[^/]*)\/pods\/([^/]+)\//.exec(sandbox.slice(root.length)) ?? [];
    if (kubelet === undefined || uid === undefined) continue;
    const dir = join(root, kubelet, 'pods', uid);
    const pod = pods.get(dir) ?? { uid, dir, containers: [] };
    pod.containers.push({ process, sandbox });
    pods.set(dir, pod);
  }
  return [...pods.values()].map((pod) => ({ ...pod, record: readPodRecord(pod.dir) }));
}

/** How a person knows it. */
export function nameOfPod({ uid, record }: LivingPod): string {
  if (!record) return `Pod ${uid}`;
  return record.owner ? `${record.owner} in ${record.namespace}` : `Pod ${record.name} in ${record.namespace}`;
}
