/** The SDK on the real API server; with real guests it is tried in test/e2e/agent.test.ts. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { CONFIG_MAPS } from '../../src/api/core/configmap.ts';
import { VMS } from '../../src/api/kubevirt/kinds/virtual-machine.ts';
import { type VirtualMachineInstance, VMIS } from '../../src/api/kubevirt/kinds/virtual-machine-instance.ts';
import { applyManifests } from '../../src/cmd/embedded/apply-manifests.ts';
import { startTestServer } from '../../src/control-plane/apiserver/test-server.testing.ts';
import { createKubeVirt } from '../../src/sdk/kubevirt.ts';

const IMAGE = 'localhost/guests/tiny';
const at = { namespace: 'default', name: 'web' };
const instance: VirtualMachineInstance = {
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  metadata: at,
  spec: { domain: { devices: {} } },
};

async function start(t: TestContext) {
  const { client, close } = await startTestServer();
  t.after(close);
  await applyManifests(client, join(import.meta.dirname, '../../deploy/crds'), (object) => object);
  const openStream = () => Promise.reject(new Error('no guest is here'));
  return { client, kubevirt: createKubeVirt({ client, namespace: 'default', openStream }) };
}

test('a machine is made from a few words, found, changed and deleted', async (t) => {
  const { kubevirt } = await start(t);
  const vm = await kubevirt.create({ name: 'web', image: IMAGE, cpus: 2, isStarted: false, userData: '#cloud-config Ü' });
  const { spec } = (await vm.get()) ?? assert.fail('it was made');
  assert.deepEqual(
    [spec.runStrategy, spec.template.spec.domain.cpu, spec.template.spec.volumes?.[0]],
    ['Halted', { cores: 2 }, { name: 'root', containerDisk: { image: IMAGE } }],
  );
  const [, userData] = spec.template.spec.volumes ?? [];
  assert.equal(Buffer.from(userData?.cloudInitNoCloud?.userDataBase64 ?? '', 'base64').toString(), '#cloud-config Ü');
  assert.deepEqual(
    (await kubevirt.vms.list({ namespace: 'default' })).map(({ metadata }) => metadata.name),
    ['web'],
  );
  assert.equal((await vm.patch({ metadata: { labels: { a: 'b' } } })).metadata.labels?.['a'], 'b');
  await assert.rejects(kubevirt.create({ name: 'web', image: IMAGE }), { reason: 'AlreadyExists' });
  await vm.delete({ isAwaited: true });
  assert.equal(await vm.get(), undefined);
  await vm.delete();
});

test('a scratch machine is gone at the end of its block, also when the block fails', async (t) => {
  const { kubevirt } = await start(t);
  const use = async () => {
    await using vm = await kubevirt.scratch({ name: 'web', image: IMAGE });
    assert.equal((await vm.get())?.spec.runStrategy, 'Always');
    throw new Error('on purpose');
  };
  await assert.rejects(use, /on purpose/);
  assert.equal(await kubevirt.vm('web').get(), undefined);
});

test('waiting ends when it is so, and says why it cannot be', async (t) => {
  const { client, kubevirt } = await start(t);
  const vm = kubevirt.vm('web');
  await assert.rejects(vm.waitFor('Running'), { reason: 'NotFound' });
  await vm.waitFor('gone');
  await kubevirt.create({ name: 'web', image: IMAGE });
  await vm.waitFor('Stopped');
  const running = vm.waitFor('Running');
  await client.create(VMIS, instance);
  await client.patch(VMIS, at, { status: { phase: 'Running' } });
  assert.equal((await running).vmi?.status?.phase, 'Running');
  const gone = new AbortController();
  const ready = vm.waitFor('Ready', { signal: gone.signal });
  gone.abort(new Error('enough'));
  await assert.rejects(ready, /enough/);
  const lost = vm.waitFor(({ vm: seen }) => seen?.metadata.labels?.['never'] === 'so');
  await client.delete(VMIS, at);
  await client.delete(VMS, at);
  await assert.rejects(lost, { reason: 'NotFound' });
});

test('what is followed is told from the beginning, the latest of each object, until the loop is left', async (t) => {
  const { client, kubevirt } = await start(t);
  const create = (name: string) =>
    client.create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name } });
  await create('one');
  const told: string[] = [];
  for await (const { type, object } of kubevirt.kind(CONFIG_MAPS).follow({ namespace: 'default' })) {
    const { name, labels } = object.metadata;
    told.push(`${type} ${name} ${labels?.['n'] ?? ''}`.trim());
    if (name === 'one' && type === 'changed' && labels === undefined) await create('two');
    if (name === 'two' && type === 'changed' && labels === undefined) {
      for (const n of ['1', '2', '3'])
        await client.patch(CONFIG_MAPS, { namespace: 'default', name: 'two' }, { metadata: { labels: { n } } });
      await client.delete(CONFIG_MAPS, { namespace: 'default', name: 'two' });
    }
    if (type === 'deleted') break;
  }
  assert.deepEqual([told[0], told[1], told.at(-1)], ['changed one', 'changed two', 'deleted two 3']);
});

test('a list is awaited or gone through, and what is refused is thrown in either way', async (t) => {
  const { kubevirt } = await start(t);
  for (const name of ['a', 'b']) await kubevirt.create({ name, image: IMAGE, isStarted: false });
  const names: string[] = [];
  for await (const { metadata } of kubevirt.vms.list()) names.push(metadata.name);
  assert.deepEqual([names, (await kubevirt.vms.list({ fieldSelector: 'metadata.name=b' })).length], [['a', 'b'], 1]);
  const wrong = kubevirt.kind({ ...VMS, plural: 'nonsenses' });
  await assert.rejects(wrong.list(), { code: 404 });
  const goThrough = async () => {
    for await (const _ of wrong.list()) assert.fail('there is nothing');
  };
  await assert.rejects(goThrough, { code: 404 });
});

test('every call ends with its signal', async (t) => {
  const { kubevirt } = await start(t);
  await kubevirt.create({ name: 'web', image: IMAGE });
  const signal = AbortSignal.abort(new Error('enough'));
  const vm = kubevirt.vm('web');
  const calls: Readonly<Record<string, () => PromiseLike<unknown>>> = {
    get: () => vm.get({ signal }),
    instance: () => vm.instance({ signal }),
    why: () => vm.why({ signal }),
    patch: () => vm.patch({}, { signal }),
    start: () => vm.start({ signal }),
    exec: () => vm.exec(['true'], { signal }),
    logs: () => vm.logs({ previous: true, signal }),
    waitFor: () => vm.waitFor('Running', { signal }),
    delete: () => vm.delete({ signal }),
    list: () => kubevirt.vms.list({ signal }),
    follow: () => kubevirt.vms.follow({ signal })[Symbol.asyncIterator]().next(),
    create: () => kubevirt.create({ name: 'other', image: IMAGE }, { signal }),
  };
  for (const [name, call] of Object.entries(calls)) await assert.rejects(async () => call(), /enough/, name);
  assert.equal((await kubevirt.vms.list()).length, 1);
});

test('what may not be followed is thrown, not tried for ever', async (t) => {
  const { kubevirt } = await start(t);
  const follow = async () => {
    for await (const _ of kubevirt.kind({ ...VMS, plural: 'nonsenses' }).follow()) assert.fail('there is nothing');
  };
  await assert.rejects(follow, { code: 404 });
});
