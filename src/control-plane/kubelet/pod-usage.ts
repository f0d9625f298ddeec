/** What the containers of a node use, as the kernel counts it. */
import type { Pod } from '../../api/core/pod.ts';
import type { ProcessTable, ProcessUsage } from '../../base/node/process-usage.ts';
import type { ContainerRecord } from './container-record.ts';

/** Of one Pod: every container that runs, by its name. */
export type PodUsage = { readonly pod: Pod; readonly containers: ReadonlyMap<string, ProcessUsage> };

type Runtimes = { get(uid: string): { container(name: string): ContainerRecord | undefined } | undefined };

/** Pods of which nothing runs are left out. */
export function podUsages(pods: readonly Pod[], runtimes: Runtimes, processes: ProcessTable): PodUsage[] {
  return pods.flatMap((pod) => {
    const runtime = runtimes.get(pod.metadata.uid ?? '');
    const containers = [...(pod.spec.initContainers ?? []), ...pod.spec.containers, ...(pod.spec.ephemeralContainers ?? [])].flatMap(
      ({ name }) => {
        const run = runtime?.container(name)?.run;
        const used = run?.is === 'running' ? processes.usageOf(run.process) : undefined;
        return used ? [[name, used] as const] : [];
      },
    );
    return containers.length === 0 ? [] : [{ pod, containers: new Map(containers) }];
  });
}
