/** What one user can hold open at a whole API server, and that others notice nothing of it. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { type TestContext, test } from 'node:test';
import { LEASES } from '../../../api/core/lease.ts';
import { NODES } from '../../../api/core/node.ts';
import { isApiError } from '../../../base/errors.ts';
import { grant } from '../access/rights.testing.ts';
import { startTestServer, type TestServer } from '../test-server.testing.ts';
import type { Identity } from '../transport/identity.ts';

const EVE: Identity = { user: 'eve', groups: ['system:authenticated'] };
const MOST = 100;
const PODS = '/api/v1/namespaces/default/pods';
const LOG = `${PODS}/p/log?follow=true`;
const MACHINES = '/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances';
const RULES = [
  { apiGroups: [''], resources: ['*'], verbs: ['*'] },
  { apiGroups: ['subresources.kubevirt.io'], resources: ['*'], verbs: ['*'] },
];

/** Eve may do everything in a namespace; nothing that she opens ends by itself. */
async function start(t: TestContext): Promise<TestServer> {
  const endless = async () => new Response(new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from('a line\n')) }));
  const server = await startTestServer({ hooks: { logs: endless, proxyToService: endless } });
  t.after(() => server.close());
  await grant(server.client, { namespace: 'default', rules: RULES, subject: { kind: 'User', name: 'eve' } });
  const create = (path: string, body: object) => server.fetch(path, { method: 'POST', body: JSON.stringify(body) });
  await server.client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n2' } });
  await create(PODS, { metadata: { name: 'p' }, spec: { nodeName: 'n2', containers: [{ name: 'c', image: 'i' }] } });
  const spec = { group: 'subresources.kubevirt.io', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 };
  await create('/apis/apiregistration.k8s.io/v1/apiservices', {
    metadata: { name: 'v1.subresources.kubevirt.io' },
    spec: { ...spec, service: { namespace: 'kubevirt', name: 'virt-api' }, insecureSkipTLSVerify: true },
  });
  return server;
}

async function open({ server }: TestServer, url: string, identity = EVE): Promise<EventEmitter> {
  const socket = Object.assign(new EventEmitter(), { destroy: () => {} });
  await server.upgrade({ request: { method: 'GET', url }, identity, socket }, { toService: async () => {}, toPod: async () => {} });
  return socket;
}

test('a disk that is downloaded is a stream, and who downloads still makes requests', async (t) => {
  const server = await start(t);
  const disk = MACHINES.replace('virtualmachineinstances', 'virtualmachineexports/e/volumes/data/disk.img');
  const statuses: number[] = [];
  for (let count = 0; count <= MOST; count += 1) statuses.push((await server.fetch(disk, {}, EVE)).status);
  assert.deepEqual([statuses.filter((status) => status === 200).length, statuses.at(-1)], [MOST, 429]);
  assert.equal((await server.fetch(PODS, {}, EVE)).status, 200);
});

const isTooMany = (error: unknown) => isApiError(error, 'TooManyRequests') && error.message.startsWith('too many streams');

test('consoles, screens, forwarded ports, exec, attach and logs of one user are counted together, and have an end', async (t) => {
  const server = await start(t);
  const paths = [`${MACHINES}/vm/console`, `${MACHINES}/vm/vnc`, `${MACHINES}/vm/portforward/22/tcp`, `${PODS}/p/exec`, `${PODS}/p/attach`];
  const sockets: EventEmitter[] = [];
  for (let count = 0; count < MOST - 1; count += 1) sockets.push(await open(server, paths[count % paths.length] ?? ''));
  const log = await server.fetch(LOG, {}, EVE);
  assert.equal(log.status, 200);
  for (const path of [...paths, `${PODS}/p/portforward`]) await assert.rejects(open(server, path), isTooMany, path);
  const refused = await server.fetch(LOG, {}, EVE);
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '1']);

  await log.body?.cancel();
  await (await server.fetch(LOG, {}, EVE)).body?.cancel();
  sockets[0]?.emit('close');
  await open(server, paths[0] ?? '');
  await open(server, paths[0] ?? '');
  await assert.rejects(open(server, paths[0] ?? ''), isTooMany);
});

test('whoever has all streams open still makes requests, and node, components and administrators open streams and renew leases', async (t) => {
  const server = await start(t);
  for (let count = 0; count < MOST; count += 1) await open(server, `${MACHINES}/vm/console`);
  assert.equal((await server.fetch(PODS, {}, EVE)).status, 200);
  const node = server.clientAs('system:node:n1', ['system:nodes']);
  await server.client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
  const metadata = { namespace: 'kube-node-lease', name: 'n1' };
  await node.create(LEASES, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: {} });
  for (let count = 0; count < 2 * MOST; count += 1)
    await open(server, `${MACHINES}/vm/console`, { user: 'admin', groups: ['system:masters', 'system:authenticated'] });
});

test('an answer that nobody reads is under way until it is read', async (t) => {
  const server = await start(t);
  const answers: Response[] = [];
  for (let count = 0; count < MOST; count += 1) answers.push(await server.fetch(PODS, {}, EVE));
  assert.equal((await server.fetch(PODS, {}, EVE)).status, 429);
  await answers[0]?.text();
  assert.equal((await server.fetch(PODS, {}, EVE)).status, 200);
});

test('who left is no longer counted, read or not', async (t) => {
  const server = await start(t);
  const gone = new AbortController();
  for (let count = 0; count < MOST; count += 1) await server.fetch(LOG, { signal: gone.signal }, EVE);
  assert.equal((await server.fetch(LOG, {}, EVE)).status, 429);
  gone.abort();
  assert.equal((await server.fetch(LOG, {}, EVE)).status, 200);
});

test('a watch of another server behind this one is a watch', async (t) => {
  const server = await start(t);
  const statuses: number[] = [];
  for (let count = 0; count <= 300; count += 1) statuses.push((await server.fetch(`${MACHINES}?watch=1`, {}, EVE)).status);
  assert.deepEqual([statuses.filter((status) => status === 200).length, statuses.at(-1)], [300, 429]);
});

test('whoever makes five service accounts in a namespace leaves consoles, watches and requests to others', async (t) => {
  const server = await start(t);
  const accounts = ['a', 'b', 'c', 'd', 'e'].map(
    (name): Identity => ({
      user: `system:serviceaccount:default:${name}`,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    }),
  );
  const subject = { kind: 'Group', name: 'system:serviceaccounts:default' };
  await grant(server.client, { namespace: 'default', name: 'accounts', rules: RULES, subject });
  const opened = { consoles: 0, watches: 0 };
  for (const identity of accounts) {
    for (let count = 0; count < MOST; count += 1) {
      const isOpen = await open(server, `${MACHINES}/vm/console`, identity).then(
        () => 1,
        () => 0,
      );
      opened.consoles += isOpen;
      if (isOpen === 0) break;
    }
    for (let count = 0; count < 300; count += 1) {
      const { status } = await server.fetch(`${PODS}?watch=1`, {}, identity);
      if (status !== 200) break;
      opened.watches += 1;
    }
  }
  assert.deepEqual(opened, { consoles: MOST, watches: 300 });
  await open(server, `${MACHINES}/vm/console`);
  assert.equal((await server.fetch(`${PODS}?watch=1`, {}, EVE)).status, 200);
});
