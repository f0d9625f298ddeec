/** Pods of a data folder that have processes, told by the processes themselves: whatever the store says, and whether a cluster runs or not. */
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { type PodRecord, readPodRecord } from './pod-record.ts';
import { firstProcessesOf, isInSandbox } from './pod-sandbox.ts';
import { findByVariable, type ProcessIdentity, readVariable } from './process-identity.ts';
import { APART_VARIABLE, SANDBOX_VARIABLE } from './sandbox-path.ts';

export type LivingPod = {
  readonly uid: string;
  /** Its folder. */
  readonly dir: string;
  readonly record: PodRecord | undefined;
  readonly containers: readonly {
    readonly process: ProcessIdentity /** What it sees as the root of its mounts. */;
    readonly sandbox: string;
    /** In a network of the Pod's own or of its own, and not in that of its cluster. */
    readonly isInside: boolean;
  }[];
};

/** Every Pod of this data folder with a process that runs now. */
export function livingPods(home: string): readonly LivingPod[] {
  if (!existsSync(home)) return [];
  const root = realpathSync(home);
  const pods = new Map<string, { uid: string; dir: string; containers: LivingPod['containers'][number][] }>();
  const add = (dir: string, uid: string, process: ProcessIdentity, sandbox: string) => {
    const pod = pods.get(dir) ?? { uid, dir, containers: [] };
    if (pod.containers.some((each) => each.process.pid === process.pid)) return;
    const isApart = readVariable(process.pid, APART_VARIABLE) !== undefined;
    pod.containers.push({ process, sandbox, isInside: isApart || isInSandbox(dir, process.pid) });
    pods.set(dir, pod);
  };
  for (const process of findByVariable(SANDBOX_VARIABLE, (path) => path.startsWith(`${root}/`))) {
    const sandbox = readVariable(process.pid, SANDBOX_VARIABLE) ?? '';
    const [, kubelet, uid] = /^\/(kubelet[^/]*)\/pods\/([^/]+)\//.exec(sandbox.slice(root.length)) ?? [];
    if (kubelet === undefined || uid === undefined) continue;
    add(join(root, kubelet, 'pods', uid), uid, process, sandbox);
  }
  // The containers themselves: their variables are their own, and what started them may be gone.
  for (const { dir, uid } of podFolders(root))
    for (const { container, process } of firstProcessesOf(dir)) add(dir, uid, process, join(dir, 'root', container));
  return [...pods.values()].map((pod) => ({ ...pod, record: readPodRecord(pod.dir) }));
}

function podFolders(root: string): { readonly dir: string; readonly uid: string }[] {
  const kubelets = readdirSync(root).filter((name) => name.startsWith('kubelet') && existsSync(join(root, name, 'pods')));
  return kubelets.flatMap((kubelet) =>
    readdirSync(join(root, kubelet, 'pods')).map((uid) => ({ dir: join(root, kubelet, 'pods', uid), uid })),
  );
}

/** How a person knows it. */
export function nameOfPod({ uid, record }: LivingPod): string {
  if (!record) return `Pod ${uid}`;
  return record.owner ? `${record.owner} in ${record.namespace}` : `Pod ${record.name} in ${record.namespace}`;
}
