/**
 * A cluster for numbers of machines that no test has the memory for: API server, scheduler, garbage collector and virt-controller are the real ones, with
 * the rights that deploy/ gives them; what a kubelet and a virt-handler would write for guests that run is written for all nodes by two
 * small loops, with the pure parts of the real ones. Counts the writes that come through the API.
 */
import { NODES, type Node } from '../../../src/api/core/node.ts';
import { PODS, type Pod } from '../../../src/api/core/pod.ts';
import { isFinal, type VirtualMachineInstance, VMIS } from '../../../src/api/kubevirt/kinds/virtual-machine-instance.ts';
import { LABEL_NODE_NAME, LABEL_SCHEDULABLE } from '../../../src/api/kubevirt/names.ts';
import { controllerOf, hasCondition, isControlledBy, isDeleting, keyOf, refOf } from '../../../src/api/meta.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { diffAsMergePatch } from '../../../src/base/json.ts';
import { type Logger, silentLogger } from '../../../src/base/log.ts';
import { timestamp } from '../../../src/base/timestamp.ts';
import { startCache } from '../../../src/client/cache.ts';
import type { Client } from '../../../src/client/client.ts';
import { applyManifests } from '../../../src/cmd/embedded/apply-manifests.ts';
import { startTestServer } from '../../../src/control-plane/apiserver/test-server.testing.ts';
import { runGarbageCollector } from '../../../src/control-plane/garbage-collector/controller.ts';
import { derivePodStatus } from '../../../src/control-plane/kubelet/status.ts';
import { runScheduler } from '../../../src/control-plane/scheduler/controller.ts';
import { runController } from '../../../src/reconcile/controller.ts';
import { type Decision, nothingToDo } from '../../../src/reconcile/decision.ts';
import { changesOf } from '../../../src/reconcile/source.ts';
import { runVirtController } from '../../../src/virt-controller/run.ts';
import { decideDomain } from '../../../src/virt-handler/vmi/decide.ts';
import type { DomainAction } from '../../../src/virt-handler/vmi/domain-action.ts';
import type { ObservedDomain } from '../../../src/virt-handler/vmi/observed.ts';

/** One write that reached the API server after everything was in place, without events. */
export type Write = { readonly user: string; readonly method: string; readonly path: string; readonly code: number };

export type SimulatedCluster = AsyncDisposable & { readonly client: Client; readonly writes: Write[] };

export const SIMULATED_NODES = 'system:simulated-nodes';
export const CONTROLLER = 'system:serviceaccount:kubevirt:kubevirt-controller';
const BEAT_MS = 60_000;
const RUNNING = { state: 'running', isConnected: true, isGone: false, commands: {}, macs: ['02:00:00:00:00:01'] } as const;

/** A cluster with this many nodes, of 110 Pods each. */
export async function startSimulatedCluster({ nodes }: { readonly nodes: number }): Promise<SimulatedCluster> {
  const writes: Write[] = [];
  const { client, clientAs, close } = await startTestServer({ log: counting(writes) });
  const stop = new AbortController();
  await applyManifests(client, 'deploy', (object) => object);
  for (let n = 0; n < nodes; n++) await addNode(client, `n${n}`);
  writes.length = 0;
  const common = { clock: systemClock, log: silentLogger, signal: stop.signal };
  const running = [
    runScheduler({ ...common, client: clientAs('system:kube-scheduler') }),
    runVirtController({ ...common, client: clientAs(CONTROLLER, ['system:serviceaccounts', 'system:serviceaccounts:kubevirt']) }),
    runGarbageCollector({ ...common, client: clientAs('system:kube-controller-manager', ['system:masters']) }),
    runNodes({ ...common, client: clientAs(SIMULATED_NODES, ['system:masters']) }),
    keepAlive({ ...common, client: clientAs(SIMULATED_NODES, ['system:masters']) }),
  ];
  return {
    client,
    writes,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(running);
      close();
    },
  };
}

/** The API server tells its log of every write. */
function counting(writes: Write[]): Logger {
  const log: Logger = {
    ...silentLogger,
    debug(message, fields) {
      const write = fields as Write; // as the server writes them
      if (message === 'write' && !write.path.includes('/events')) writes.push(write);
    },
    with: () => log,
  };
  return log;
}

async function addNode(client: Client, name: string): Promise<void> {
  const now = timestamp(systemClock.now());
  const amounts = { cpu: '64', memory: '256Gi', 'ephemeral-storage': '1Ti', pods: '110', 'devices.kubevirt.io/kvm': '110' };
  await client.create<Node>(NODES, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { [LABEL_SCHEDULABLE]: 'true', 'kubernetes.io/hostname': name },
      annotations: { 'kubevirt.io/heartbeat': now },
    },
  });
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: now }];
  await client.patch(NODES, { name }, { status: { capacity: amounts, allocatable: amounts, conditions } }, { subresource: 'status' });
}

/** A node of which nothing is heard for minutes gets no more machines. */
async function keepAlive({ client, clock, signal }: NodesOptions): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(BEAT_MS, signal);
    const annotations = { 'kubevirt.io/heartbeat': timestamp(clock.now()) };
    for (const { metadata } of signal.aborted ? [] : (await client.list(NODES)).items) {
      await client.patch(NODES, metadata, { metadata: { annotations } });
    }
  }
}

type NodesOptions = { readonly client: Client; readonly clock: typeof systemClock; readonly log: Logger; readonly signal: AbortSignal };

/** Every Pod that has a node runs at once, and so does every guest that was handed over; one that is to end without time to do so ends at once. */
async function runNodes(common: NodesOptions): Promise<void> {
  const pods = startCache({ ...common, resource: PODS, indexes: { owner: (pod: Pod) => [controllerOf(pod)?.uid ?? ''] } });
  const vmis = startCache({ ...common, resource: VMIS, labelSelector: LABEL_NODE_NAME });
  const kubelets = runController<ObservedPod>({
    ...common,
    name: 'kubelet',
    triggers: [
      changesOf(pods, ({ metadata }) => [keyOf(metadata)]),
      changesOf(vmis, ({ metadata }) => pods.byIndex('owner', metadata.uid ?? '').map((pod) => keyOf(pod.metadata))),
    ],
    observe: (key) => observePod(pods.get(key), (vmi) => vmis.get(vmi)),
    decide: decidePod,
    subject: ({ pod }) => pod,
  });
  const handlers = runController<ObservedDomain, DomainAction>({
    ...common,
    name: 'virt-handler',
    triggers: [
      changesOf(vmis, ({ metadata }) => [keyOf(metadata)]),
      changesOf(pods, (pod) => (controllerOf(pod) ? [keyOf({ ...pod.metadata, name: controllerOf(pod)?.name ?? '' })] : [])),
    ],
    observe: (key) => observeGuest(vmis.get(key), (uid) => pods.byIndex('owner', uid)),
    decide: decideDomain,
    act: () => undefined, // there is no guest behind it that could obey
    subject: ({ vmi }) => vmi,
  });
  await Promise.all([kubelets, handlers]);
}

function observeGuest(vmi: VirtualMachineInstance | undefined, podsOf: (uid: string) => readonly Pod[]): ObservedDomain | undefined {
  const pod = vmi && podsOf(vmi.metadata.uid ?? '').find((each) => isControlledBy(each, vmi));
  // A guest takes longer to come up than its kubelet takes to see the readiness gate open.
  if (!vmi || !pod || !hasCondition(pod.status?.conditions, 'Ready')) return undefined;
  const now = systemClock.now();
  return { vmi, pod, followed: { vmi, podUid: pod.metadata.uid ?? '' }, domain: RUNNING, stoppingSince: now, now };
}

type ObservedPod = { readonly pod: Pod; readonly hasEnded: boolean };

/** QEMU ends when virt-handler has written how the guest ended. */
function observePod(pod: Pod | undefined, vmiOf: (key: string) => VirtualMachineInstance | undefined): ObservedPod | undefined {
  if (!pod) return undefined;
  const owner = controllerOf(pod);
  const vmi = owner && vmiOf(keyOf({ ...pod.metadata, name: owner.name }));
  return { pod, hasEnded: vmi?.metadata.uid === owner?.uid && vmi ? isFinal(vmi) : isDeleting(pod) };
}

function decidePod({ pod, hasEnded }: ObservedPod): Decision {
  if (!pod.spec.nodeName) return nothingToDo;
  if (isDeleting(pod)) {
    const because = 'none of its containers runs';
    return hasEnded ? { actions: [{ do: 'delete', target: refOf(pod), gracePeriodSeconds: 0, because }] } : nothingToDo;
  }
  const now = systemClock.now();
  const startedAtMs = Date.parse(pod.status?.startTime ?? timestamp(now));
  const running = { is: 'running', process: { pid: 1, startTime: '1', bootId: '1' }, startedAtMs } as const;
  const ended = { is: 'ended', exitCode: 0, reason: 'Completed', startedAtMs, finishedAtMs: startedAtMs } as const;
  const run = hasEnded ? ended : running;
  const containers = pod.spec.containers.map(({ name }) => ({ name, isInit: false, restartCount: 0, crashes: 0, run }));
  const status = derivePodStatus({ pod, containers, volumes: 'ready', podIP: '10.244.0.1', hostIP: '10.0.0.1', now });
  const patch = diffAsMergePatch(pod.status ?? {}, { ...pod.status, ...status });
  if (patch === undefined) return nothingToDo;
  const { resourceVersion } = pod.metadata;
  const because = hasEnded ? 'it has ended' : 'it runs';
  return { actions: [{ do: 'patch', target: refOf(pod), subresource: 'status', patch: { status: patch }, resourceVersion, because }] };
}
