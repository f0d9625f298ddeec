/** Node lifecycle: a node of which nothing is heard is not ready, and Pods leave nodes whose taints they do not tolerate. */
import { NODES, type Node } from '../../api/core/node.ts';
import { PODS, type Pod } from '../../api/core/pod.ts';
import { keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { startCache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { runController } from '../../reconcile/controller.ts';
import { changesOf } from '../../reconcile/source.ts';
import { decideNode, type ObservedNode } from './decide-node.ts';
import { decidePodOfNode, type ObservedPodOfNode } from './decide-pod.ts';
import { NODE_LEASES, Silence } from './silence.ts';

export type NodeLifecycleOptions = { readonly client: Client; readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal };

const BY_NODE = 'node';

/** Runs until the signal aborts. */
export async function runNodeLifecycle(options: NodeLifecycleOptions): Promise<void> {
  const { clock, signal } = options;
  const nodes = startCache({ ...options, resource: NODES });
  const leases = startCache({ ...options, ...NODE_LEASES });
  const pods = startCache({ ...options, resource: PODS, indexes: { [BY_NODE]: ({ spec }: Pod) => [spec.nodeName ?? ''] } });
  const silence = new Silence({ clock, leases, nodes });
  const evictingTaints = (name: string) => nodes.get(name)?.spec?.taints?.filter(({ effect }) => effect === 'NoExecute') ?? [];
  const isWatched = (name: string) => !nodes.get(name) || evictingTaints(name).length > 0;
  const podsOf = ({ metadata: { name } }: Node) =>
    isWatched(name) ? pods.byIndex(BY_NODE, name).map(({ metadata }) => keyOf(metadata)) : [];

  await Promise.all([
    silence.pulse.run(signal),
    runController<ObservedNode>({
      ...options,
      name: 'node-controller',
      triggers: [changesOf(nodes, ({ metadata }) => [keyOf(metadata)]), changesOf(leases, ({ metadata }) => [metadata.name])],
      observe: (key) => {
        const node = nodes.get(key);
        return node && { node, silentMs: silence.ofNodeMs(node.metadata.name), now: clock.now() };
      },
      decide: decideNode,
      subject: ({ node }) => node,
    }),
    runController<ObservedPodOfNode>({
      ...options,
      name: 'taint-eviction-controller',
      triggers: [
        changesOf(pods, ({ metadata, spec: { nodeName } }) => (nodeName && isWatched(nodeName) ? [keyOf(metadata)] : [])),
        changesOf(nodes, podsOf),
      ],
      observe: (key) => {
        const pod = pods.get(key);
        const name = pod?.spec.nodeName;
        if (!pod || !name || !isWatched(name)) return undefined;
        const node = nodes.get(name);
        const taints = evictingTaints(name).map((taint) => ({ taint, seenForMs: silence.ofTaintMs(name, taint) }));
        return { pod, ...(node && { node }), goneForMs: node ? 0 : silence.ofNodeMs(name), taints, now: clock.now() };
      },
      decide: decidePodOfNode,
      subject: ({ pod }) => pod,
    }),
  ]);
}
