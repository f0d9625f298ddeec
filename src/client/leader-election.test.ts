import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lease } from '../api/core/lease.ts';
import { silentLogger } from '../base/log.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { quiet, until } from '../testing/until.ts';
import { createClient } from './client.ts';
import { runLeader } from './leader-election.ts';

/** One Lease behind HTTP, with the one rule of the API that elections lean on: an update of another version is refused. */
class LeaseServer {
  lease: Lease | undefined;
  isAway = false;
  readonly client = createClient({ fetch: (request) => this.#answer(request), baseUrl: 'https://api', userAgent: 'test' });

  async #answer(request: Request): Promise<Response> {
    if (this.isAway) throw new TypeError('fetch failed');
    if (request.method === 'GET') return this.lease ? Response.json(this.lease) : refusal(404, 'NotFound');
    const sent = (await request.json()) as Lease;
    if (request.method === 'POST' && this.lease) return refusal(409, 'AlreadyExists');
    const version = Number(this.lease?.metadata.resourceVersion ?? 0);
    if (request.method === 'PUT' && sent.metadata.resourceVersion !== String(version)) return refusal(409, 'Conflict');
    this.lease = { ...sent, metadata: { ...sent.metadata, resourceVersion: String(version + 1) } };
    return Response.json(this.lease);
  }
}

function refusal(code: number, reason: string): Response {
  return Response.json({ kind: 'Status', status: 'Failure', reason, code, message: reason }, { status: code });
}

function world() {
  const server = new LeaseServer();
  const clock = new FakeClock();
  const leading = new Set<string>();
  const candidate = (identity: string) => {
    const stop = new AbortController();
    const ended = runLeader({
      client: server.client,
      clock,
      log: silentLogger,
      signal: stop.signal,
      namespace: 'kubevirt',
      name: 'virt-controller',
      identity,
      lead: async (signal) => {
        leading.add(identity);
        assert.equal(leading.size, 1, 'two lead at once');
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
        leading.delete(identity);
      },
    });
    ended.catch(() => {}); // looked at by the test that expects it
    return { ended, stop: () => stop.abort() };
  };
  /** Small steps: everybody has time to notice. */
  const pass = async (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      clock.advance(1_000);
      await quiet();
    }
  };
  return { server, candidate, leading, pass };
}

test('one leads, and the next one follows as soon as it stops in order', async () => {
  const { candidate, leading, pass, server } = world();
  const a = candidate('a');
  await until(() => leading.has('a'));
  const b = candidate('b');
  await pass(60);
  assert.deepEqual([...leading], ['a']);
  a.stop();
  await a.ended;
  await pass(3);
  assert.deepEqual([...leading], ['b']);
  assert.equal(server.lease?.spec.leaseTransitions, 1);
  b.stop();
  await b.ended;
});

test('a leader that cannot renew stops, and only then another leads', async () => {
  const { candidate, leading, pass, server } = world();
  const a = candidate('a');
  await until(() => leading.has('a'));
  server.isAway = true;
  await pass(12);
  assert.deepEqual([...leading], []);
  await assert.rejects(a.ended, /lost the lease/);
  server.isAway = false;
  const b = candidate('b');
  await pass(13);
  assert.deepEqual([...leading], [], 'the lease of a still counts: b has only just seen it');
  await pass(5);
  assert.deepEqual([...leading], ['b']);
  b.stop();
  await b.ended;
});

test('a leader whose lease another holds stops at once', async () => {
  const { candidate, leading, pass, server } = world();
  const a = candidate('a');
  await until(() => leading.has('a'));
  assert.ok(server.lease);
  server.lease = { ...server.lease, spec: { ...server.lease.spec, holderIdentity: 'b' } };
  await pass(3);
  assert.deepEqual([...leading], []);
  await assert.rejects(a.ended, /b holds the lease/);
});
