import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Clock, systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { ensureSigningKey } from '../../base/node/signing-key.ts';
import { temporaryPki } from '../../control-plane/apiserver/transport/tls.testing.ts';
import { temporaryStore } from '../../control-plane/store/temporary-store.testing.ts';
import { startVirtApi } from '../../virt-api/start.ts';
import { withCaBundle } from '../../virt-operator/render/render.ts';
import { applyManifests } from './apply-manifests.ts';
import { INSTALLER, startApi } from './start-api.ts';
import { VirtApiEndpoint } from './virt-api-endpoint.ts';

const DEPLOY = resolve(import.meta.dirname, '../../../deploy');
const VMS = '/apis/kubevirt.io/v1/namespaces/default/virtualmachines';
const ADA = { user: 'ada', groups: ['system:masters', 'system:authenticated'] };

describe('an API that serves before virt-api does', { timeout: 60_000 }, () => {
  let pki: Awaited<ReturnType<typeof temporaryPki>>;
  let signingKey: string;
  before(async () => {
    pki = await temporaryPki();
    signingKey = await ensureSigningKey(pki.folder);
  });
  after(() => pki.remove());

  /** The objects of an earlier run are there, and the address that virt-api had then. */
  async function restarted() {
    const { store, close } = temporaryStore();
    const held: (() => void)[] = [];
    const clock: Clock = {
      ...systemClock,
      sleep: (_ms, signal) =>
        new Promise((done) => {
          held.push(done);
          signal?.addEventListener('abort', () => done());
        }),
    };
    const virtApi = new VirtApiEndpoint(clock);
    const api = await startApi({ store, pki: pki.pki, signingKey, clock, log: silentLogger, virtApi });
    const admin = api.clientAs(INSTALLER, ['system:masters']);
    await applyManifests(admin, DEPLOY, (object) => withCaBundle(object, pki.pki.kubevirtCa));
    held.length = 0;
    const stop = new AbortController();
    return {
      virtApi,
      held,
      send: (method: string, path: string, body?: object) => {
        const headers = { 'content-type': 'application/json' };
        return api.handle(new Request(new URL(path, 'https://localhost'), { method, headers, body: body && JSON.stringify(body) }), ADA);
      },
      async serveVirtApi() {
        const client = api.clientAs('system:serviceaccount:kubevirt:kubevirt-apiserver', ['system:masters']);
        const options = { client, clock: systemClock, log: silentLogger, signal: stop.signal, pki: pki.pki };
        const { port } = await startVirtApi({ ...options, host: '127.0.0.1', port: 0, version: 'test' });
        virtApi.serve({ host: '127.0.0.1', port });
      },
      [Symbol.dispose]() {
        stop.abort();
        api.close();
        close();
      },
    };
  }

  function machine(name: string) {
    const template = { spec: { domain: { devices: {}, resources: { requests: { memory: '64Mi' } } } } };
    return { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { name }, spec: { runStrategy: 'Halted', template } };
  }

  async function untilHeld(held: readonly unknown[]) {
    while (held.length === 0) await new Promise((done) => setImmediate(done));
  }

  test('a write that virt-api admits waits for it; reads do not, and it is not ready before', async () => {
    using cluster = await restarted();
    const writing = cluster.send('POST', VMS, machine('a'));
    await untilHeld(cluster.held);
    assert.deepEqual(
      [
        (await cluster.send('GET', VMS)).status,
        (await cluster.send('GET', '/readyz')).status,
        (await cluster.send('GET', '/livez')).status,
      ],
      [200, 500, 200],
    );
    await cluster.serveVirtApi();
    assert.deepEqual([(await writing).status, (await cluster.send('GET', '/readyz')).status], [201, 200]);
  });

  test('one that waited for too long is told to come again', async () => {
    using cluster = await restarted();
    const writing = cluster.send('POST', VMS, machine('a'));
    await untilHeld(cluster.held);
    cluster.held.shift()?.();
    const answer = await writing;
    const { reason, message } = await answer.json();
    assert.deepEqual(
      { status: answer.status, retryAfter: answer.headers.get('retry-after'), reason, message },
      {
        status: 503,
        retryAfter: '1',
        reason: 'ServiceUnavailable',
        message: 'virt-api of this cluster is starting, please try again later',
      },
    );
  });

  test('of a thousand writes fifty wait, the others are told at once', async () => {
    using cluster = await restarted();
    const writing = Array.from({ length: 1000 }, (_, index) => cluster.send('POST', VMS, machine(`m${index}`)));
    const first = await Promise.all(writing.slice(500));
    assert.deepEqual([cluster.held.length, ...new Set(first.map(({ status }) => status))], [50, 503]);
    await cluster.serveVirtApi();
    const codes = (await Promise.all(writing)).map(({ status }) => status);
    assert.deepEqual([codes.filter((code) => code === 201).length, codes.filter((code) => code === 503).length], [50, 950]);
  });

  test('a request to virt-api itself, and a write while it ends, are told at once', async () => {
    using cluster = await restarted();
    const start = '/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines/a/start';
    const starting = await cluster.send('PUT', start, {});
    await cluster.serveVirtApi();
    cluster.virtApi.stop();
    const ending = await cluster.send('POST', VMS, machine('a'));
    assert.deepEqual(
      [starting, ending].map((answer) => [answer.status, answer.headers.get('retry-after')]),
      [
        [503, '1'],
        [503, '1'],
      ],
    );
    assert.match((await ending.json()).message, /is stopped/);
  });
});
