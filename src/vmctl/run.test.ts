/** The whole program but its command line, against the real API server, with the rights of examples/vmctl/rbac.yaml and no others. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { PODS } from '../api/core/pod.ts';
import { SERVICES, type Service } from '../api/core/service.ts';
import { VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { KubeObject } from '../api/meta.ts';
import { systemClock } from '../base/clock.ts';
import { silentLogger } from '../base/log.ts';
import type { Client } from '../client/client.ts';
import { apply, applyManifests } from '../cmd/embedded/apply-manifests.ts';
import { startTestServer } from '../control-plane/apiserver/test-server.testing.ts';
import { vm, vmi } from '../testing/builders.ts';
import { until } from '../testing/until.ts';
import type { Arguments } from './arguments.ts';
import { vmctlPod } from './pod.testing.ts';
import { runVmctl } from './run.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Addresses of the loopback that nothing else uses. */
const POD_IP = '127.77.2.1';
const GUEST_IP = '127.77.2.2';
const PORT = 20_190;
const ARGS: Arguments = { prototype: 'testvm', namespace: 'default', protoNamespace: 'default' };
const POD = { namespace: 'default', name: 'web-0' };
const DERIVED = { namespace: 'default', name: 'testvm-web-0' };

type Started = {
  readonly admin: Client;
  readonly account: Client;
  readonly run: (more?: Partial<RunOptions>) => Promise<void>;
  readonly stop: () => void;
};
type RunOptions = { readonly args: Arguments; readonly client: Client; readonly env: Record<string, string>; readonly isInPod: boolean };

/** A server with the kinds, the prototype, our Pod and the rights. */
async function started(t: TestContext): Promise<Started> {
  const { client: admin, clientAs, close } = await startTestServer();
  const stop = new AbortController();
  const runs: Promise<void>[] = [];
  t.after(async () => {
    stop.abort();
    await Promise.allSettled(runs);
    close();
  });
  await applyManifests(admin, join(ROOT, 'deploy/crds'), (object) => object);
  for (const file of ['rbac', 'prototype']) {
    for (const document of parseAllDocuments(readFileSync(join(ROOT, 'examples/vmctl', `${file}.yaml`), 'utf8'))) {
      const object = document.toJS() as KubeObject;
      await apply(admin, { ...object, metadata: { namespace: 'default', ...object.metadata } });
    }
  }
  const { uid: _, ...metadata } = vmctlPod().metadata;
  await admin.create(PODS, { ...vmctlPod({}, { terminationGracePeriodSeconds: 5 }), metadata });
  const account = clientAs('system:serviceaccount:default:vmctl');
  const run = (more: Partial<RunOptions> = {}) => {
    const fixed = { clock: systemClock, log: silentLogger, signal: stop.signal, hostname: 'laptop' };
    const cluster = { context: '', server: 'https://127.0.0.1:1', namespace: 'default' };
    const running = runVmctl({
      args: ARGS,
      client: account,
      cluster,
      env: { POD_NAME: 'web-0', POD_IP },
      isInPod: true,
      ...fixed,
      ...more,
    });
    runs.push(running);
    return running;
  };
  return { admin, account, run, stop: () => stop.abort() };
}

test('the machine is there for as long as the Pod is, and connections to the Pod reach it', { timeout: 60_000 }, async (t) => {
  const { admin, run, stop } = await started(t);
  const service: Service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'default' },
    spec: { selector: { app: 'vmctl' }, ports: [{ port: 80, targetPort: PORT }] },
  };
  await admin.create(SERVICES, service);
  const ended = run();
  const derived = () => admin.get(VMS, DERIVED);
  await until(async () => (await derived()) !== undefined, 'the machine');
  const first = await derived();
  assert.equal(first?.metadata.ownerReferences?.[0]?.name, 'web-0');
  assert.equal(first?.spec.runStrategy, 'Always');

  const readiness = async () => (await fetch(`http://${POD_IP}:10258/readyz`)).text();
  await until(async () => (await readiness().catch(() => '')) === 'the virtual machine is not ready\n', 'the reason');
  const early = fetch(`http://${POD_IP}:${PORT}/`);
  const guest = createServer((_, response) => response.end('hello')).listen(PORT, GUEST_IP);
  t.after(() => guest.close());
  await once(guest, 'listening');
  const status = { conditions: [{ type: 'Ready', status: 'True' as const }], interfaces: [{ ipAddress: GUEST_IP }] };
  const { uid: _, resourceVersion: __, ownerReferences: ___, finalizers: ____, ...named } = vmi('Running', {}, DERIVED).metadata;
  await admin.create(VMIS, { ...vmi('Running', status), metadata: named });
  assert.equal(await (await early).text(), 'hello', 'who came early has waited');
  assert.equal(await readiness(), 'ok\n');

  await admin.delete(VMS, DERIVED);
  await until(async () => ![undefined, first?.metadata.uid].includes((await derived())?.metadata.uid), 'the next machine');

  stop();
  await ended;
  assert.equal(await derived(), undefined);
});

test('a machine that an earlier Pod of the same name left is replaced', { timeout: 60_000 }, async (t) => {
  const { admin, run } = await started(t);
  const { uid: _, resourceVersion: __, ...metadata } = vm('Always', {}, DERIVED).metadata;
  const left = { 'kubevirt.io/vmctl-pod': 'default/web-0', 'kubevirt.io/vmctl-prototype': 'default/testvm' };
  const labels = { 'kubevirt.io/vmctl-pod-uid': 'an-earlier-one' };
  const old = await admin.create(VMS, { ...vm('Always'), metadata: { ...metadata, finalizers: [], labels, annotations: left } });
  void run().catch(() => {});
  const now = () => admin.get(VMS, DERIVED);
  await until(async () => ![undefined, old.metadata.uid].includes((await now())?.metadata.uid), 'the machine of this Pod');
  assert.equal((await now())?.metadata.labels?.['kubevirt.io/vmctl-pod-uid'], (await admin.get(PODS, POD))?.metadata.uid);
});

test('a vmctl that is asked to end before it has begun removes what an earlier run of its container left', {
  timeout: 60_000,
}, async (t) => {
  const { admin, run, stop } = await started(t);
  const { uid = '' } = (await admin.get(PODS, POD))?.metadata ?? {};
  const metadata = { ...DERIVED, labels: { 'kubevirt.io/vmctl-pod-uid': uid } };
  await admin.create(VMS, { ...vm('Always'), metadata });
  stop();
  await run();
  assert.equal(await admin.get(VMS, DERIVED), undefined);
});

test('outside a Pod the host name stands for the Pod', { timeout: 60_000 }, async (t) => {
  const { admin, run, stop } = await started(t);
  const ended = run({ isInPod: false, env: {} });
  const at = { namespace: 'default', name: 'testvm-laptop' };
  await until(async () => (await admin.get(VMS, at)) !== undefined, 'the machine');
  assert.equal((await admin.get(VMS, at))?.metadata.ownerReferences, undefined);
  stop();
  await ended;
  assert.equal(await admin.get(VMS, at), undefined);
});

test('what a person has to mend is said once and clearly, and nothing is made', { timeout: 60_000 }, async (t) => {
  const { admin, run, account } = await started(t);
  await assert.rejects(run({ args: { ...ARGS, prototype: 'nobody' } }), { code: 'PROTOTYPE_MISSING', message: /default\/nobody/ });
  await assert.rejects(run({ env: { POD_NAME: 'web-9' } }), { code: 'POD_UNKNOWN', message: /default\/web-9/ });
  await assert.rejects(run({ args: { ...ARGS, hostnameOverride: 'x'.repeat(64) } }), { code: 'NAME_TOO_LONG' });
  await assert.rejects(run({ client: account, args: { ...ARGS, namespace: 'kube-system' } }), {
    code: 'FORBIDDEN',
    why: 'it may not get, list, watch, create, delete virtualmachines.kubevirt.io in namespace kube-system; list, watch virtualmachineinstances.kubevirt.io in namespace kube-system; get virtualmachineinstances/portforward.subresources.kubevirt.io in namespace kube-system',
  });
  const { uid: _, resourceVersion: __, ...metadata } = vm('Halted', {}, DERIVED).metadata;
  await admin.create(VMS, { ...vm('Halted'), metadata });
  await assert.rejects(run(), { code: 'NAME_TAKEN', message: /default\/testvm-web-0/ });
  assert.deepEqual((await admin.list(VMS)).items.map((each) => each.metadata.name).sort(), ['testvm', 'testvm-web-0']);
});
