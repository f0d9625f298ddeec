import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { describe, type TestContext, test } from 'node:test';
import { FakeClock } from '../../../testing/fake-clock.ts';
import { startTestServer, type TestServer } from '../test-server.testing.ts';
import { authenticate } from '../transport/authenticate.ts';
import type { Identity } from '../transport/identity.ts';
import { grant, ROLES } from './rights.testing.ts';

const EVE: Identity = { user: 'eve', groups: ['system:authenticated'] };
const EVERYTHING_SHE_HAS = [
  { apiGroups: [''], resources: ['configmaps', 'pods/log'], verbs: ['get', 'list', 'watch'] },
  {
    apiGroups: ['subresources.kubevirt.io'],
    resources: ['virtualmachineinstances/console', 'virtualmachineexports/volumes'],
    verbs: ['get'],
  },
];
const WATCH = '/api/v1/namespaces/default/configmaps?watch=1';
const LOG = '/api/v1/namespaces/default/pods/p/log?follow=true';
const CONSOLE = '/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/vm/console';
const DISK = '/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineexports/e/volumes/data/disk.img';
const BINDING = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings/r';

/** A cluster in which eve may watch, read logs and open consoles, in namespace default. */
async function start(t: TestContext): Promise<TestServer & { clock: FakeClock }> {
  const clock = new FakeClock();
  const endless = () => new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(Buffer.from('first line\n')) });
  const disk = async () => new Response(endless(), { headers: { 'content-length': `${64 * 2 ** 30}` } });
  const server = await startTestServer({ clock, hooks: { logs: async () => new Response(endless()), proxyToService: disk } });
  t.after(() => server.close());
  await grant(server.client, { namespace: 'default', rules: EVERYTHING_SHE_HAS, subject: { kind: 'User', name: 'eve' } });
  const create = (path: string, body: object) => server.fetch(path, { method: 'POST', body: JSON.stringify(body) });
  const containers = [{ name: 'c', image: 'i' }];
  await create('/api/v1/namespaces/default/pods', { metadata: { name: 'p' }, spec: { nodeName: 'n1', containers } });
  const spec = { group: 'subresources.kubevirt.io', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 };
  const service = { namespace: 'kubevirt', name: 'virt-api' };
  await create('/apis/apiregistration.k8s.io/v1/apiservices', {
    metadata: { name: 'v1.subresources.kubevirt.io' },
    spec: { ...spec, service, insecureSkipTLSVerify: true },
  });
  return { ...server, clock };
}

/** Resolves with how the answer ended; never when it goes on. */
async function endOf(response: Response): Promise<'ended' | 'cut off'> {
  assert.equal(response.status, 200);
  try {
    for await (const _ of response.body ?? []);
    return 'ended';
  } catch {
    return 'cut off';
  }
}

async function openConsole({ server }: TestServer, identity: Identity): Promise<EventEmitter & { destroy(): void }> {
  const socket = Object.assign(new EventEmitter(), { destroy: () => void socket.emit('close') });
  await server.upgrade(
    { request: { method: 'GET', url: CONSOLE }, identity, socket },
    { toService: async () => {}, toPod: async () => {} },
  );
  return socket;
}

describe('a right that is taken away', { timeout: 20_000 }, () => {
  test('ends watches, followed logs, downloads of disks and consoles at once', async (t) => {
    const server = await start(t);
    const ends = [WATCH, LOG, DISK].map(async (path) => endOf(await server.fetch(path, {}, EVE)));
    const console = once(await openConsole(server, EVE), 'close');
    await server.fetch(BINDING, { method: 'DELETE' });
    assert.deepEqual(await Promise.all(ends), ['ended', 'cut off', 'cut off']);
    await console;
  });

  test('ends them when the role itself changes', async (t) => {
    const server = await start(t);
    const end = endOf(await server.fetch(WATCH, {}, EVE));
    const role = await server.client.get(ROLES, { namespace: 'default', name: 'r' });
    await server.client.update(ROLES, { ...role, metadata: { ...role?.metadata, name: 'r' }, rules: [] } as never); // one of ours, changed
    assert.equal(await end, 'ended');
  });

  test('ends what somebody does in the name of another', async (t) => {
    const server = await start(t);
    const rules = [{ apiGroups: [''], resources: ['users'], verbs: ['impersonate'] }];
    await grant(server.client, { rules, subject: { kind: 'User', name: 'mallory' }, name: 'masks' });
    const mallory = { user: 'mallory', groups: ['system:authenticated'] };
    const end = endOf(await server.fetch(WATCH, { headers: { 'impersonate-user': 'eve' } }, mallory));
    await server.fetch('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/masks', { method: 'DELETE' });
    assert.equal(await end, 'ended');
  });

  test('concerns nobody else', async (t) => {
    const server = await start(t);
    const bob = { user: 'bob', groups: ['system:authenticated'] };
    await grant(server.client, { namespace: 'default', rules: EVERYTHING_SHE_HAS, subject: { kind: 'User', name: 'bob' }, name: 'bobs' });
    const reader = (await server.fetch(WATCH, {}, bob)).body?.getReader();
    assert.ok(reader);
    const end = endOf(await server.fetch(WATCH, {}, EVE));
    await server.fetch(BINDING, { method: 'DELETE' });
    await end;
    await server.fetch('/api/v1/namespaces/default/configmaps', { method: 'POST', body: JSON.stringify({ metadata: { name: 'news' } }) });
    const { value } = await reader.read();
    assert.match(Buffer.from(value ?? []).toString(), /news/);
  });
});

test('a stream ends within seconds after its credentials have', async (t) => {
  const server = await start(t);
  let isGood = true;
  const identity = { ...EVE, isStillProven: async () => isGood };
  const end = endOf(await server.fetch(WATCH, {}, identity));
  const download = endOf(await server.fetch(DISK, {}, identity));
  const console = once(await openConsole(server, identity), 'close');
  isGood = false;
  server.clock.advance(5_000);
  assert.deepEqual([await end, await download], ['ended', 'cut off']);
  await console;
});

test('credentials end with the certificate, and with whatever a token is bound to', async () => {
  const clock = new FakeClock();
  const signal = new AbortController().signal;
  const peer = { commonName: 'eve', organizations: [], validUntilMs: clock.now() + 1_000 };
  const byCertificate = await authenticate({ peer, headers: new Headers(), signal, clock });
  let owner: Identity | undefined = EVE;
  const headers = new Headers({ authorization: 'Bearer t' });
  const byToken = await authenticate({ peer: undefined, headers, reviewToken: async () => owner, signal, clock });
  assert.deepEqual([await byCertificate.isStillProven?.(), await byToken.isStillProven?.()], [true, true]);
  clock.advance(1_001);
  owner = undefined;
  assert.deepEqual([await byCertificate.isStillProven?.(), await byToken.isStillProven?.()], [false, false]);
});
