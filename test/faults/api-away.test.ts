/**
 * The API server is away from virt-controller for an hour: none of its requests is answered, its watches are broken. Meanwhile people change things; then it
 * catches up. What nobody touched is what it was, what was stopped or deleted goes, what is new is made, and each of it once. The full count of
 * changes (API_AWAY_CHANGES=10000) is for `npm run test:soak`.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PODS } from '../../src/api/core/pod.ts';
import { type VirtualMachine, VMS } from '../../src/api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../src/api/kubevirt/kinds/virtual-machine-instance.ts';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { applyManifests } from '../../src/cmd/embedded/apply-manifests.ts';
import { startTestServer, type TestServer } from '../../src/control-plane/apiserver/test-server.testing.ts';
import { runGarbageCollector } from '../../src/control-plane/garbage-collector/controller.ts';
import { tinySpec } from '../../src/testing/builders.ts';
import { runVirtController } from '../../src/virt-controller/run.ts';

const CHANGES = Number(process.env['API_AWAY_CHANGES'] ?? 1_000);
const MACHINES = 120;
/** Of each kind of change that a machine is not to survive as it was. */
const SOME = 20;
const HOUR_MS = 3_600_000;
const TIMES_AS_FAST = 1_200;
const NAMESPACE = 'default';
/** For each machine that is to go or to come: finalizers, status, instance, Pod. */
const WRITES_EACH = 20;
const PATIENCE_MS = 240_000;

const BEGAN = systemClock.now();
const FAST: Clock = {
  now: () => BEGAN + (systemClock.now() - BEGAN) * TIMES_AS_FAST,
  steady: () => systemClock.steady() * TIMES_AS_FAST,
  sleep: (ms, signal) => systemClock.sleep(ms / TIMES_AS_FAST, signal),
};

test('an API server that was away for an hour is caught up with', { timeout: 2 * PATIENCE_MS }, async (t) => {
  const api = await startTestServer();
  t.after(() => api.close());
  await applyManifests(api.client, join(import.meta.dirname, '../../deploy/crds'), (object) => object);
  const line = lineTo(api);
  await control(t, api.client, line.client);
  const names = (from: number, count: number) => Array.from({ length: count }, (_, n) => `vm-${from + n}`);
  const old = names(0, MACHINES);
  await Promise.all(old.map((name) => api.client.create(VMS, machine(name))));
  await until('a Pod for each machine', async () => (await podsOf(api)).length === MACHINES);
  await line.quiet();
  const before = await uidsOf(api);

  line.cut();
  const [stopped, deleted, added] = [old.slice(0, SOME), old.slice(SOME, 2 * SOME), names(MACHINES, SOME)];
  for (let n = 0; n < CHANGES; n++)
    await api.client.patch(VMS, { namespace: NAMESPACE, name: old[n % MACHINES] ?? '' }, { metadata: { annotations: { change: `${n}` } } });
  await Promise.all([
    ...stopped.map((name) => api.client.patch(VMS, { namespace: NAMESPACE, name }, { spec: { runStrategy: 'Halted' } })),
    ...deleted.map((name) => api.client.delete(VMS, { namespace: NAMESPACE, name })),
    ...added.map((name) => api.client.create(VMS, machine(name))),
  ]);
  await systemClock.sleep(HOUR_MS / TIMES_AS_FAST);
  assert.deepEqual(await uidsOf(api), before, 'nobody did anything meanwhile');

  const writes = line.join();
  const expected = [...old.slice(2 * SOME), ...added].sort();
  await until('what was changed', async () => {
    const [vmis, pods, vms] = [await uidsOf(api), await podsOf(api), (await api.client.list(VMS)).items];
    return vmis.size === expected.length && pods.length === expected.length && vms.length === MACHINES - SOME + SOME;
  });
  await line.quiet();
  const after = await uidsOf(api);
  assert.deepEqual([...after.keys()].sort(), expected);
  for (const name of old.slice(2 * SOME)) assert.equal(after.get(name), before.get(name), `${name} was made anew`);
  t.diagnostic(`${CHANGES} changes, ${3 * SOME} of them to be followed: ${writes()} writes`);
  assert.ok(writes() <= 3 * SOME * WRITES_EACH, `${writes()} writes`);
});

function machine(name: string): VirtualMachine {
  const spec = { runStrategy: 'Always' as const, template: { spec: tinySpec } };
  return { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { namespace: NAMESPACE, name }, spec };
}

/** Until the test ends; the garbage collector is never cut off. */
async function control(t: TestContext, admin: Client, client: Client): Promise<void> {
  const stop = new AbortController();
  const common = { log: silentLogger, signal: stop.signal };
  const running = [
    runVirtController({ ...common, client, clock: FAST }),
    runGarbageCollector({ ...common, client: admin, clock: systemClock }),
  ];
  t.after(async () => {
    stop.abort();
    await Promise.all(running);
  });
}

/** The way of a client to the API server, which can be cut. */
function lineTo(api: TestServer) {
  let broken: AbortController | undefined = new AbortController();
  let writes = 0;
  let lastWriteAt = performance.now();
  const fetch = async (request: Request): Promise<Response> => {
    const line = broken;
    if (!line) throw new TypeError('fetch failed');
    if (request.method !== 'GET') [writes, lastWriteAt] = [writes + 1, performance.now()];
    const answer = await api.server.handle(request, { user: 'controller', groups: ['system:masters', 'system:authenticated'] });
    if (broken !== line) throw new TypeError('fetch failed');
    const body = answer.body?.pipeThrough(new TransformStream(), { signal: line.signal });
    return new Response(body ?? null, answer);
  };
  return {
    client: createClient({ fetch, baseUrl: 'https://kubernetes.default.svc', userAgent: 'test' }),
    cut() {
      broken?.abort(new TypeError('terminated'));
      broken = undefined;
    },
    /** Returns how many writes came since. */
    join() {
      broken = new AbortController();
      const before = writes;
      return () => writes - before;
    },
    /** Until nothing has been written for a while. */
    quiet: () => until('the end of writes', async () => performance.now() - lastWriteAt > 1_000),
  };
}

/** Of the instances, by their names. */
async function uidsOf({ client }: TestServer): Promise<Map<string, string | undefined>> {
  return new Map((await client.list(VMIS)).items.map(({ metadata }) => [metadata.name, metadata.uid]));
}

async function podsOf({ client }: TestServer) {
  return (await client.list(PODS, { namespace: NAMESPACE })).items;
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + PATIENCE_MS; !(await isSo()); await systemClock.sleep(50))
    if (performance.now() > deadline) throw new Error(`waited for ${what}`);
}
