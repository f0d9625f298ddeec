/** A node without processes: Pods without a node get it, run, become ready, and go when they are deleted. */
import { NODES } from '../../api/core/node.ts';
import { PODS, type Pod, type PodStatus } from '../../api/core/pod.ts';
import { isDeleting } from '../../api/meta.ts';
import { isApiError } from '../../base/errors.ts';
import { timestamp } from '../../base/timestamp.ts';
import type { Client } from '../../client/client.ts';

export type FakeKubelet = {
  readonly stopped: Promise<void>;
  /** What the next Pods do: run, fail to become ready, or end with this phase. */
  behave(how: (pod: Pod) => 'ready' | 'unready' | 'Succeeded' | 'Failed'): void;
};
type Options = {
  readonly client: Client;
  readonly nodes?: readonly string[];
  /** Whose Pods it takes; all when not given. */
  readonly namespace?: string;
  readonly now: () => number;
  readonly signal: AbortSignal;
};

const STARTED = { ready: true, restartCount: 0, image: '', imageID: '' };

/** Runs until the signal aborts. */
export async function startFakeKubelet({ client, nodes = ['n1'], namespace, now, signal }: Options): Promise<FakeKubelet> {
  let behaviour: (pod: Pod) => 'ready' | 'unready' | 'Succeeded' | 'Failed' = () => 'ready';
  for (const name of nodes) {
    const conditions = [{ type: 'Ready', status: 'True' as const }];
    const status = { conditions, allocatable: { cpu: '100', memory: '100Gi', pods: '1000' } };
    await client.create(NODES, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { 'kubernetes.io/hostname': name } },
      status,
    });
  }
  let next = 0;
  return { stopped: watch(), behave: (how) => (behaviour = how) };

  async function watch(): Promise<void> {
    try {
      const { items, resourceVersion } = await client.list(PODS, { namespace });
      for (const pod of items) await look(pod);
      for await (const event of client.watch(PODS, { namespace, resourceVersion, signal }))
        if (event.type === 'ADDED' || event.type === 'MODIFIED') await look(event.object as Pod);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async function look(pod: Pod): Promise<void> {
    try {
      if (isDeleting(pod)) await client.delete(PODS, pod.metadata, { gracePeriodSeconds: 0, uid: pod.metadata.uid });
      else if (!pod.spec.nodeName) await bind(pod);
      else if (pod.status?.phase === 'Pending')
        await client.patch(PODS, pod.metadata, { status: statusOf(pod) }, { subresource: 'status' });
    } catch (error) {
      if (!isApiError(error, 'NotFound') && !isApiError(error, 'Conflict') && !signal.aborted) throw error; // gone or bound meanwhile
    }
  }

  async function bind(pod: Pod): Promise<void> {
    const affinity = JSON.stringify(pod.spec.affinity ?? {});
    const name = nodes.find((node) => affinity.includes(`"${node}"`)) ?? nodes[next++ % nodes.length];
    const body = { apiVersion: 'v1', kind: 'Binding', metadata: pod.metadata, target: { kind: 'Node', name } };
    await client.create({ ...PODS, kind: 'Binding' } as never, body as never, { subresource: 'binding' });
  }

  function statusOf(pod: Pod): PodStatus {
    const how = behaviour(pod);
    const at = timestamp(now());
    const isEnd = how === 'Succeeded' || how === 'Failed';
    const state = isEnd
      ? { terminated: { exitCode: how === 'Failed' ? 1 : 0, reason: how === 'Failed' ? 'Error' : 'Completed', finishedAt: at } }
      : { running: { startedAt: at } };
    return {
      phase: isEnd ? how : 'Running',
      startTime: at,
      podIP: '10.0.0.1',
      conditions: [{ type: 'Ready', status: how === 'ready' ? 'True' : 'False', lastTransitionTime: at }],
      containerStatuses: pod.spec.containers.map(({ name }) => ({ name, ...STARTED, ready: how === 'ready', state })),
    };
  }
}
