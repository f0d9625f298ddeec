/** Both controllers against the real API server, with the manifests of deploy/ and only the rights these give. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { EVENTS } from '../api/core/event.ts';
import { NODES } from '../api/core/node.ts';
import { PODS, type Pod } from '../api/core/pod.ts';
import { KUBEVIRTS } from '../api/kubevirt/kinds/kubevirt.ts';
import { MIGRATIONS } from '../api/kubevirt/kinds/migration.ts';
import { POOLS } from '../api/kubevirt/kinds/pool.ts';
import { VMIRSS } from '../api/kubevirt/kinds/replica-set.ts';
import { type VirtualMachine, VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { type VirtualMachineInstance, VMIS } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { VM_SNAPSHOTS } from '../api/kubevirt/kinds/vm-snapshot.ts';
import { ANNOTATION_VMCTL_POD, LABEL_VMCTL_POD_UID } from '../api/kubevirt/names.ts';
import { COMPUTE_CONTAINER } from '../api/launcher/compute.ts';
import { hasCondition, type KubeObject } from '../api/meta.ts';
import type { Resource } from '../api/resource.ts';
import { systemClock } from '../base/clock.ts';
import { isApiError } from '../base/errors.ts';
import { silentLogger } from '../base/log.ts';
import { timeoutSignal } from '../base/timeout-signal.ts';
import { timestamp } from '../base/timestamp.ts';
import type { Client } from '../client/client.ts';
import { startTestServer } from '../control-plane/apiserver/test-server.testing.ts';
import { tinySpec } from '../testing/builders.ts';
import { until as untilTrue } from '../testing/until.ts';
import { runVirtController } from './run.ts';

const at = { namespace: 'default', name: 'vm-cirros' };
const USER = 'system:serviceaccount:kubevirt:kubevirt-controller';

function documents(path: string): KubeObject[] {
  return parseAllDocuments(readFileSync(path, 'utf8')).map((document) => document.toJS() as KubeObject);
}

/** Every kind in deploy/ forms its plural in the plain way. The server may have made the namespace already. */
async function install(client: Client, object: KubeObject): Promise<void> {
  const [version = '', group = ''] = object.apiVersion.split('/').reverse();
  const { kind, metadata } = object;
  const resource = { group, version, kind, plural: `${kind.toLowerCase()}s`, isNamespaced: metadata.namespace !== undefined };
  await client.create(resource, object).catch((error: unknown) => {
    if (!isApiError(error, 'AlreadyExists')) throw error;
    return client.patch(resource, metadata, object);
  });
}

/** Follows the object until it is as wanted; the test's own time limit ends the waiting. */
async function until<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  isReached: (object: T | undefined) => boolean,
): Promise<T | undefined> {
  const signal = timeoutSignal(20_000);
  const { items, resourceVersion } = await client.list(resource, { namespace: 'default' });
  if (isReached(items[0])) return items[0];
  let last: T | undefined;
  for await (const event of client.watch(resource, { namespace: 'default', resourceVersion, signal })) {
    if (event.type === 'BOOKMARK') continue;
    last = event.type === 'DELETED' ? undefined : event.object;
    if (isReached(last)) return last;
  }
  throw new Error(`never reached, the last was ${JSON.stringify(last)}`);
}

/** A server with everything in deploy/, and a client with the rights of virt-controller alone; all of it ends with the test. */
async function installed(t: TestContext): Promise<{ admin: Client; theirs: Client; run: (client: Client) => void }> {
  const { client: admin, clientAs, close } = await startTestServer();
  const stop = new AbortController();
  let stopped: Promise<void> | undefined;
  t.after(async () => {
    stop.abort();
    await stopped;
    close();
  });
  for (const file of readdirSync('deploy/crds')) for (const crd of documents(`deploy/crds/${file}`)) await install(admin, crd);
  for (const file of ['namespace', 'rbac-components', 'rbac-users', 'virt-api']) {
    for (const object of documents(`deploy/${file}.yaml`)) await install(admin, object);
  }
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'kubevirt-controller' };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: USER }];
  const binding = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name: USER }, roleRef, subjects };
  await install(admin, binding);
  const run = (client: Client) => {
    stopped = runVirtController({ client, clock: systemClock, log: silentLogger, signal: stop.signal });
  };
  return { admin, theirs: clientAs(USER), run };
}

test('a cluster without VolumeSnapshots is told so by a snapshot that fails at once, with the rights that virt-controller has', async (t) => {
  const { admin, theirs, run } = await installed(t);
  run(theirs);
  const source = { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'nobody' };
  const metadata = { namespace: 'default', name: 'before' };
  const apiVersion = 'snapshot.kubevirt.io/v1beta1';
  await admin.create(VM_SNAPSHOTS, { apiVersion, kind: 'VirtualMachineSnapshot', metadata, spec: { source } });
  const failed = await until(admin, VM_SNAPSHOTS, (each) => each?.status?.phase === 'Failed');
  assert.match(failed?.status?.error?.message ?? '', /^this cluster has no VolumeSnapshots \(snapshot\.storage\.k8s\.io\/v1\)/);
  await admin.delete(VM_SNAPSHOTS, metadata);
  await until(admin, VM_SNAPSHOTS, (each) => each === undefined);
});

test('a machine that vmctl derived goes when its Pod is gone, with the rights of deploy/', { timeout: 60_000 }, async (t) => {
  const { admin, theirs, run } = await installed(t);
  run(theirs);
  const metadata = { ...at, labels: { [LABEL_VMCTL_POD_UID]: 'nobody' }, annotations: { [ANNOTATION_VMCTL_POD]: 'elsewhere/web-0' } };
  const spec = { runStrategy: 'Halted' as const, template: { spec: tinySpec } };
  await admin.create(VMS, { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata, spec });
  await until(admin, VMS, (vm) => vm === undefined);
});

test('the machine of the first seed runs, restarts and goes, with the rights of deploy/', { timeout: 60_000 }, async (t) => {
  const { admin, theirs, run } = await installed(t);
  const { client, written } = counting(theirs);
  run(client);
  const heartbeat = { 'kubevirt.io/heartbeat': timestamp(systemClock.now()) };
  await admin.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', annotations: heartbeat } });
  const world = toyNode(admin);

  const [manifest] = documents('test/manifests/001-vm-cirros.yaml');
  await admin.create({ ...VMS, version: 'v1alpha3' }, { ...(manifest as VirtualMachine), metadata: { ...manifest?.metadata, ...at } });
  await until(admin, VMS, (vm) => vm?.status?.printableStatus === 'Stopped');
  assert.equal((await admin.list(VMIS)).items.length, 0);

  await admin.patch(VMS, at, { spec: { running: true } });
  const first = await world.boot();
  const running = await until(admin, VMS, (vm) => vm?.status?.printableStatus === 'Running' && vm.status.ready === true);
  assert.deepEqual([running?.status?.created, running?.status?.observedGeneration], [true, running?.metadata.generation]);
  // With the one of virt-handler: 5 for the VMI, and 9 for a VM that existed before.
  assert.deepEqual(written.splice(0), [
    'patch VirtualMachine',
    'patch VirtualMachine status',
    'create ControllerRevision',
    'create VirtualMachineInstance',
    'patch VirtualMachine status',
    'create Pod',
    'patch VirtualMachineInstance',
    'patch Pod status',
    'patch VirtualMachineInstance',
    'patch VirtualMachine status',
  ]);

  await admin.delete(VMIS, at);
  await world.powerOff();
  const second = await world.boot();
  assert.notEqual(second?.metadata.uid, first?.metadata.uid);
  assert.equal(second?.spec.domain.firmware?.uuid, first?.spec.domain.firmware?.uuid);

  await admin.delete(VMS, at);
  await world.powerOff();
  await until(admin, VMS, (vm) => vm === undefined);
  assert.deepEqual([(await admin.list(VMIS)).items, (await admin.list(PODS, { namespace: 'default' })).items], [[], []]);

  const { items: events } = await admin.list(EVENTS, { namespace: 'default' });
  const told = (kind: string) =>
    events.filter(({ involvedObject }) => involvedObject.kind === kind).map(({ message }) => message.replace(/-\w{5}$/, '-*'));
  assert.deepEqual(new Set(told('VirtualMachine')), new Set(['Created virtual machine: vm-cirros', 'Deleted virtual machine: vm-cirros']));
  assert.deepEqual(
    new Set(told('VirtualMachineInstance')),
    new Set(['Created virtual machine pod virt-launcher-vm-cirros-*', 'Deleted virtual machine pod virt-launcher-vm-cirros-*']),
  );
  assert.ok(events.every(({ type }) => type === 'Normal'));
});

test('machines in a launcher of an older installation are counted, labelled and moved, with the rights of deploy/', {
  timeout: 60_000,
}, async (t) => {
  const { admin, theirs, run } = await installed(t);
  run(theirs);
  const heartbeat = { 'kubevirt.io/heartbeat': timestamp(systemClock.now()) };
  await admin.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', annotations: heartbeat } });
  const kubeVirt = { namespace: 'kubevirt', name: 'kubevirt' };
  await admin.create(KUBEVIRTS, { apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', metadata: kubeVirt, spec: {} });
  const spec = { runStrategy: 'Always' as const, template: { spec: tinySpec } };
  await admin.create(VMS, { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: at, spec });
  await toyNode(admin).boot();
  const pod = await until(admin, PODS, (each) => each !== undefined);
  const inImage = (image: string) => {
    const containers = pod?.spec.containers.map((each) => ({ ...each, image }));
    return admin.patch(PODS, { namespace: 'default', name: pod?.metadata.name ?? '' }, { spec: { containers } });
  };
  const label = ({ metadata }: VirtualMachineInstance) => metadata.labels?.['kubevirt.io/outdatedLauncherImage'];
  const counted = async () => (await admin.get(KUBEVIRTS, kubeVirt))?.status?.outdatedVirtualMachineInstanceWorkloads ?? 0;
  await inImage('older');
  await until(admin, VMIS, (vmi) => vmi !== undefined && label(vmi) === '');
  await untilTrue(async () => (await counted()) === 1);
  await admin.patch(KUBEVIRTS, kubeVirt, { spec: { workloadUpdateStrategy: { workloadUpdateMethods: ['LiveMigrate'] } } });
  const vmi = await admin.get(VMIS, at);
  const conditions = [...(vmi?.status?.conditions ?? []), { type: 'LiveMigratable', status: 'True' }];
  await admin.patch(VMIS, at, { status: { conditions } });
  const move = await until(admin, MIGRATIONS, (each) => each !== undefined);
  assert.deepEqual([move?.spec, move?.metadata.annotations?.['kubevirt.io/workloadUpdateMigration']], [{ vmiName: at.name }, '']);
  await inImage(pod?.spec.containers[0]?.image ?? '');
  await until(admin, VMIS, (vmi) => vmi !== undefined && label(vmi) === undefined);
  await untilTrue(async () => (await counted()) === 0);
});

test('a machine is moved off a node that has the taint for it, with the rights of deploy/', { timeout: 60_000 }, async (t) => {
  const { admin, theirs, run } = await installed(t);
  run(theirs);
  const heartbeat = { 'kubevirt.io/heartbeat': timestamp(systemClock.now()) };
  await admin.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', annotations: heartbeat } });
  const spec = { runStrategy: 'Always' as const, template: { spec: { ...tinySpec, evictionStrategy: 'LiveMigrate' as const } } };
  await admin.create(VMS, { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: at, spec });
  const vmi = await toyNode(admin).boot();
  const conditions = [...(vmi?.status?.conditions ?? []), { type: 'LiveMigratable', status: 'True' }];
  await admin.patch(VMIS, at, { status: { conditions } });
  await admin.patch(NODES, { name: 'n1' }, { spec: { taints: [{ key: 'kubevirt.io/drain', effect: 'NoSchedule' }] } });
  const made = await until(admin, MIGRATIONS, (each) => each !== undefined);
  assert.deepEqual([made?.spec, made?.metadata.annotations?.['kubevirt.io/evacuationMigration']], [{ vmiName: at.name }, 'n1']);
});

test('a machine whose node fell silent is Unknown, and Running again with the next beat', { timeout: 60_000 }, async (t) => {
  const { admin, theirs, run } = await installed(t);
  run(theirs);
  const beatAt = (ms: number) => ({ annotations: { 'kubevirt.io/heartbeat': timestamp(ms) } });
  const create = (ms: number) => admin.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', ...beatAt(ms) } });
  await create(systemClock.now());
  const spec = { runStrategy: 'Always' as const, template: { spec: tinySpec } };
  await admin.create(VMS, { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: at, spec });
  await toyNode(admin).boot();
  const is = (status: string) => until(admin, VMS, (vm) => vm?.status?.printableStatus === status);
  await is('Running');
  await admin.delete(NODES, { name: 'n1' });
  await create(systemClock.now() - 600_000); // a beat that is seen to come is one of now, whatever it says
  await is('Unknown');
  const silentAt = systemClock.now();
  await admin.patch(NODES, { name: 'n1' }, { metadata: beatAt(systemClock.now()) });
  await is('Running');
  assert.ok(systemClock.now() - silentAt < 10_000, 'it was looked at only by chance');
});

test('a replica set is scaled by its subresource, heals and tells its selector, with the rights of deploy/', {
  timeout: 60_000,
}, async (t) => {
  const { admin, theirs, run } = await installed(t);
  run(theirs);
  const web = { namespace: 'default', name: 'web' };
  const labels = { app: 'web' };
  await admin.create(VMIRSS, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstanceReplicaSet',
    metadata: web,
    spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: tinySpec } },
  });
  const settled = await until(admin, VMIRSS, (set) => set?.status?.replicas === 2);
  assert.deepEqual([settled?.status?.labelSelector, settled?.status?.readyReplicas], ['app=web', 0]);
  await admin.patch(VMIRSS, web, { spec: { replicas: 3 } }, { subresource: 'scale' });
  await until(admin, VMIRSS, (set) => set?.status?.replicas === 3);
  const { items } = await admin.list(VMIS);
  const [first] = items;
  await admin.patch(VMIS, { namespace: 'default', name: first?.metadata.name ?? '' }, { status: { phase: 'Failed' } });
  await until(admin, VMIS, (vmi) => vmi !== undefined && !items.some(({ metadata }) => metadata.uid === vmi.metadata.uid));
  await admin.patch(VMIRSS, web, { spec: { replicas: 0 } }, { subresource: 'scale' });
  await until(admin, VMIRSS, (set) => set?.status?.replicas === 0);
  const { items: events } = await admin.list(EVENTS, { namespace: 'default' });
  const told = events.filter(({ involvedObject }) => involvedObject.kind === 'VirtualMachineInstanceReplicaSet');
  assert.deepEqual([...new Set(told.map(({ reason }) => reason))].toSorted(), ['SuccessfulCreate', 'SuccessfulDelete']);
});

test('a pool makes its machines, is scaled by its subresource and rolled, with the rights of deploy/', {
  timeout: 60_000,
}, async (t) => {
  const { admin, theirs, run } = await installed(t);
  run(theirs);
  const web = { namespace: 'default', name: 'web' };
  const labels = { app: 'web' };
  await admin.create(POOLS, {
    apiVersion: 'pool.kubevirt.io/v1beta1',
    kind: 'VirtualMachinePool',
    metadata: web,
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      virtualMachineTemplate: { metadata: { labels }, spec: { runStrategy: 'Halted', template: { spec: tinySpec } } },
    },
  });
  const settled = await until(admin, POOLS, (pool) => pool?.status?.replicas === 2);
  assert.equal(settled?.status?.labelSelector, 'app=web');
  await admin.patch(POOLS, web, { spec: { replicas: 3 } }, { subresource: 'scale' });
  await until(admin, POOLS, (pool) => pool?.status?.replicas === 3);
  await admin.patch(POOLS, web, { spec: { virtualMachineTemplate: { spec: { template: { spec: { hostname: 'next' } } } } } });
  await until(admin, VMS, (vm) => vm?.metadata.name === 'web-2' && vm.spec.template.spec.hostname === 'next');
  await admin.patch(POOLS, web, { spec: { replicas: 0 } }, { subresource: 'scale' });
  await until(admin, POOLS, (pool) => pool?.status?.replicas === 0);
});

/** Counts what a client writes, without events. */
function counting(client: Client): { client: Client; written: string[] } {
  const written: string[] = [];
  const count = (verb: string, { kind }: Resource, subresource?: string) => {
    if (kind !== 'Event') written.push([verb, kind, subresource].filter(Boolean).join(' '));
  };
  return {
    written,
    client: {
      ...client,
      create(resource, object, options) {
        count('create', resource, options?.subresource);
        return client.create(resource, object, options);
      },
      patch(resource, at, patch, options) {
        count('patch', resource, options?.subresource);
        return client.patch(resource, at, patch, options);
      },
      delete(resource, at, options) {
        count('delete', resource);
        return client.delete(resource, at, options);
      },
    },
  };
}

/** What scheduler, kubelet and virt-handler would write. */
function toyNode(admin: Client) {
  const podAt = (pod: Pod | undefined) => ({ namespace: 'default', name: pod?.metadata.name ?? '' });
  const reportReady = (pod: Pod | undefined) => {
    const conditions = [...(pod?.status?.conditions ?? []).filter(({ type }) => type !== 'Ready'), { type: 'Ready', status: 'True' }];
    const state = { running: { startedAt: '2026-01-01T00:00:00Z' } };
    const compute = { name: COMPUTE_CONTAINER, image: '', imageID: '', ready: true, restartCount: 0, state };
    const status = { phase: 'Running', podIP: '10.0.0.1', containerStatuses: [compute], conditions };
    return admin.patch(PODS, podAt(pod), { status }, { subresource: 'status' });
  };
  const setPhase = async (phase: 'Running' | 'Succeeded') => {
    const vmi = await admin.get(VMIS, at);
    const stamps = [...(vmi?.status?.phaseTransitionTimestamps ?? []), { phase, phaseTransitionTimestamp: '2026-01-01T00:00:00Z' }];
    const conditions = [{ type: 'Ready', status: phase === 'Running' ? 'True' : 'False', lastTransitionTime: '2026-01-01T00:00:00Z' }];
    await admin.patch(VMIS, at, { status: { phase, phaseTransitionTimestamps: stamps, conditions } });
  };
  return {
    async boot(): Promise<VirtualMachineInstance | undefined> {
      const pod = await until(admin, PODS, (each) => each !== undefined && !each.metadata.deletionTimestamp);
      const target = { kind: 'Node' as const, name: 'n1' };
      await admin.request(`/api/v1/namespaces/default/pods/${pod?.metadata.name}/binding`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ apiVersion: 'v1', kind: 'Binding', metadata: podAt(pod), target }),
      });
      const open = await until(admin, PODS, (each) => hasCondition(each?.status?.conditions, 'kubevirt.io/virtual-machine-unpaused'));
      await reportReady(open);
      await until(admin, VMIS, (vmi) => vmi?.status?.phase === 'Scheduled' && vmi.metadata.labels?.['kubevirt.io/nodeName'] === 'n1');
      await setPhase('Running');
      return until(admin, VMIS, (vmi) => hasCondition(vmi?.status?.conditions, 'Ready'));
    },
    async powerOff(): Promise<void> {
      const pod = await until(admin, PODS, (each) => each?.metadata.deletionTimestamp !== undefined);
      await setPhase('Succeeded');
      await admin.delete(PODS, podAt(pod), { gracePeriodSeconds: 0 });
    },
  };
}
