/** The whole agent against the real API server, with the rights of deploy/ and real guests. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { WebSocket } from 'ws';
import { parseAllDocuments } from 'yaml';
import { EVENTS } from '../api/core/event.ts';
import { NODES } from '../api/core/node.ts';
import { PODS, type Pod } from '../api/core/pod.ts';
import { buildRoutePath } from '../api/handler/route-path.ts';
import { HANDLER_ROUTES } from '../api/handler/routes.ts';
import { type VirtualMachineInstance, VMIS } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ANNOTATION_HEARTBEAT, LABEL_NODE_NAME, LABEL_SCHEDULABLE } from '../api/kubevirt/names.ts';
import { COMPUTE_CONTAINER } from '../api/launcher/compute.ts';
import { launcherPodNameOf } from '../api/launcher/pod-name.ts';
import { conditionOf, controllerReferenceTo, type KubeObject } from '../api/meta.ts';
import { systemClock } from '../base/clock.ts';
import { silentLogger } from '../base/log.ts';
import { ensurePki, type Pki, VIRT_HANDLER_SERVER_NAME } from '../base/node/pki.ts';
import { apply } from '../cmd/embedded/apply-manifests.ts';
import { startTestServer, type TestServer } from '../control-plane/apiserver/test-server.testing.ts';
import { type TestQemu, temporaryFolder } from '../qemu/qmp/qemu.testing.ts';
import { tinySpec } from '../testing/builders.ts';
import { until } from '../testing/until.ts';
import { publicFolder, startGuest, typeInto } from './guest.testing.ts';
import { startVirtHandler } from './start.ts';

type Handler = { readonly home: string; readonly port: number; stop(): Promise<void> };

const HANDLER = 'system:serviceaccount:kubevirt:kubevirt-handler';

describe('virt-handler on the real API server', { timeout: 60_000 }, () => {
  let api: TestServer;
  let pki: Pki;

  before(async () => {
    api = await startTestServer();
    const files = ['crds/virtualmachineinstances', 'namespace', 'rbac-components'];
    for (const object of files.flatMap(documents)) await apply(api.client, object);
    await api.client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
  });
  after(() => api.close());

  test('a guest starts, powers off and is cleared away', async (t) => {
    const handler = await startHandler(t);
    const { qemu, at, shows } = await createGuest(t, { name: 'happy', home: handler.home });
    await shows('Running');
    await type(handler, at.name, 'q');
    const vmi = await shows('Succeeded');
    assert.equal(await qemu.exitCode, 0);
    assert.deepEqual(
      vmi.status?.phaseTransitionTimestamps?.map(({ phase }) => phase),
      ['Running', 'Succeeded'],
    );
    assert.equal(vmi.status?.interfaces?.[0]?.ipAddress, '10.244.0.7');
    await until(async () => (await eventsOf('happy')).length === 3);
    assert.deepEqual(await eventsOf('happy'), ['Normal Created', 'Normal Started', 'Normal Stopped']);
  });

  test('a QEMU that is killed fails its VMI', async (t) => {
    const { home } = await startHandler(t);
    const { qemu, shows } = await createGuest(t, { name: 'killed', home });
    await shows('Running');
    process.kill(qemu.pid, 'SIGKILL');
    assert.equal((await shows('Failed')).status?.reason, 'QEMUExited');
  });

  test('a panic fails its VMI, and QEMU goes', async (t) => {
    const handler = await startHandler(t);
    const { qemu, at, shows } = await createGuest(t, { name: 'panicked', home: handler.home });
    await shows('Running');
    await type(handler, at.name, 'p');
    assert.equal((await shows('Failed')).status?.reason, 'GuestPanicked');
    assert.equal(await qemu.exitCode, 0);
  });

  test('a guest that ignores the power button is cut off when its grace period is over', async (t) => {
    const { home } = await startHandler(t);
    const { qemu, at, shows } = await createGuest(t, { name: 'stubborn', home, graceSeconds: 1 });
    await shows('Running');
    const deletedAt = performance.now();
    await api.client.delete(VMIS, at);
    assert.equal((await shows('Failed')).status?.reason, 'GracePeriodExpired');
    await qemu.exitCode;
    const tookMs = performance.now() - deletedAt;
    assert.ok(tookMs >= 1000 && tookMs < 2500, `took ${tookMs} ms`);
    await until(async () => (await eventsOf('stubborn')).includes('Normal Deleted'));
    assert.ok((await eventsOf('stubborn')).includes('Normal ShuttingDown'));
  });

  test('a guest outlives its handler, and the next one finds it as it was', async (t) => {
    const home = await temporaryFolder(t);
    const first = await startHandlerIn(t, home);
    const { folder, at, shows } = await createGuest(t, { name: 'adopted', home });
    const before = await shows('Running');
    await first.stop();
    const second = await startHandlerIn(t, home);
    await until(async () => (await heartbeat()) !== undefined);
    assert.equal((await api.client.get(VMIS, at))?.metadata.resourceVersion, before.metadata.resourceVersion);
    await second.stop();
    await typeInto(t, { folder, key: 'q' });
    await startHandlerIn(t, home);
    await shows('Succeeded');
  });

  test('the Pod of a QEMU that hangs is cut off soon after the grace period, and holds up no other guest', async (t) => {
    const { home } = await startHandler(t);
    const hung = await createGuest(t, { name: 'hung', home });
    await hung.shows('Running');
    process.kill(hung.qemu.pid, 'SIGSTOP');
    const other = await createGuest(t, { name: 'lively', home });
    await other.shows('Running');
    await api.client.patch(VMIS, hung.at, { spec: { terminationGracePeriodSeconds: 1 } });
    await api.client.delete(VMIS, hung.at);
    await hung.shows('Failed');
    const pod = hung.podName;
    await until(async () => (await api.client.get(PODS, pod))?.metadata.deletionGracePeriodSeconds === 1, 'the Pod to be cut off');
    assert.equal(conditionOf((await other.shows('Running')).status?.conditions, 'Unresponsive'), undefined);
  });

  test('the node is marked as fit for guests', async (t) => {
    await startHandler(t);
    await until(async () => (await heartbeat()) !== undefined);
    assert.equal((await api.client.get(NODES, { name: 'n1' }))?.metadata.labels?.[LABEL_SCHEDULABLE], 'true');
  });

  async function startHandler(t: TestContext): Promise<Handler> {
    return startHandlerIn(t, await temporaryFolder(t));
  }

  async function startHandlerIn(t: TestContext, home: string): Promise<Handler> {
    pki ??= await ensurePki(join(await temporaryFolder(t), 'pki'), systemClock);
    const abort = new AbortController();
    const handler = await startVirtHandler({
      client: api.clientAs(HANDLER, ['system:serviceaccounts', 'system:serviceaccounts:kubevirt']),
      nodeName: 'n1',
      kubeletRoot: home,
      certs: { ...pki.virtHandler, ca: pki.kubevirtCa },
      host: '127.0.0.1',
      port: 0,
      clock: systemClock,
      log: silentLogger,
      signal: abort.signal,
    });
    const stop = async () => {
      abort.abort();
      await handler.stopped;
    };
    t.after(stop);
    return { home, port: handler.port, stop };
  }

  /** What virt-controller and the kubelet would have done: a VMI that is Scheduled, a Pod that runs, and QEMU in it. */
  async function createGuest(t: TestContext, { name, home, graceSeconds = 30 }: { name: string; home: string; graceSeconds?: number }) {
    const at = { namespace: 'default', name };
    const vmi = await api.client.create<VirtualMachineInstance>(VMIS, {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstance',
      metadata: { ...at, finalizers: ['kubevirt.io/foregroundDeleteVirtualMachine'] },
      spec: { ...tinySpec, terminationGracePeriodSeconds: graceSeconds },
      status: { phase: 'Scheduling' },
    });
    const podName = { namespace: 'default', name: launcherPodNameOf(vmi) };
    const pod = await api.client.create<Pod>(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...podName, ownerReferences: [controllerReferenceTo(vmi)] },
      spec: {
        nodeName: 'n1',
        restartPolicy: 'Never',
        containers: [{ name: COMPUTE_CONTAINER, image: 'kubevirt-ts/virt-launcher:latest' }],
      },
    });
    await api.client.patch(PODS, podName, { status: { phase: 'Running', podIP: '10.244.0.7' } }, { subresource: 'status' });
    const scheduled = { metadata: { labels: { [LABEL_NODE_NAME]: 'n1' } }, status: { phase: 'Scheduled', nodeName: 'n1' } };
    await api.client.patch(VMIS, at, scheduled);
    const folder = publicFolder(home, pod.metadata.uid ?? '');
    await mkdir(folder, { recursive: true });
    const qemu: TestQemu = await startGuest(t, { folder });
    const shows = async (phase: string): Promise<VirtualMachineInstance> => {
      let seen: VirtualMachineInstance | undefined;
      await until(async () => {
        seen = await api.client.get(VMIS, at);
        return seen?.status?.phase === phase;
      }, `${name} to be ${phase}`);
      return seen!; // until() saw it
    };
    return { qemu, folder, at, podName, shows };
  }

  /** Through the console, as virt-api does. */
  async function type({ port }: Handler, name: string, key: string): Promise<void> {
    const identity = { ...pki.virtHandlerClient, ca: pki.kubevirtCa, servername: VIRT_HANDLER_SERVER_NAME };
    const path = buildRoutePath(HANDLER_ROUTES.console.path, { namespace: 'default', name });
    const socket = new WebSocket(`wss://127.0.0.1:${port}${path}`, identity);
    await once(socket, 'open');
    socket.send(key);
    socket.close();
    await once(socket, 'close');
  }

  async function eventsOf(name: string): Promise<string[]> {
    const { items } = await api.client.list(EVENTS, { namespace: 'default' });
    return items
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ type, reason }) => `${type} ${reason}`)
      .sort();
  }

  async function heartbeat(): Promise<string | undefined> {
    return (await api.client.get(NODES, { name: 'n1' }))?.metadata.annotations?.[ANNOTATION_HEARTBEAT];
  }
});

function documents(name: string): KubeObject[] {
  const path = `deploy/${name}.yaml`;
  assert.ok(existsSync(path), `${path} is there; tests run in the project's folder`);
  return parseAllDocuments(readFileSync(path, 'utf8')).map((document) => document.toJS() as KubeObject);
}
