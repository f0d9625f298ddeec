import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../../api/core/pod.ts';
import { FakeClock } from '../../../../testing/fake-clock.ts';
import { until } from '../../../../testing/until.ts';
import { status, testDeps } from '../../../deps.testing.ts';
import { heldUpBy } from '../../../node/held-up.ts';
import { run } from './run.ts';

const GET = 'GET /api/v1/nodes/n1';
const PATCH = 'PATCH /api/v1/nodes/n1';
const LIST = 'GET /api/v1/pods?fieldSelector=spec.nodeName%3Dn1';
const evictionOf = (name: string) => `POST /api/v1/namespaces/default/pods/${name}/eviction`;
const node = { kind: 'Node', metadata: { name: 'n1' } };

function pod(name: string, controller?: string, more: object = {}) {
  const ownerReferences = controller ? [{ kind: controller, name: 'o', uid: 'o', apiVersion: 'v1', controller: true }] : [];
  return { metadata: { name, namespace: 'default', uid: name, ownerReferences, ...more }, spec: { nodeName: 'n1', containers: [] } };
}
const mirror = pod('mirror', undefined, { annotations: { 'kubernetes.io/config.mirror': 'x' } });
const list = (...items: object[]) => ({ metadata: {}, items });

test('closes the node, evicts what has a controller, waits for it and asks again when a budget holds it up', async () => {
  const clock = new FakeClock();
  const daemon = pod('daemon', 'DaemonSet');
  const [web, going] = [pod('web', 'ReplicaSet'), pod('web', 'ReplicaSet', { deletionTimestamp: '2026-01-01T00:00:00Z' })];
  const lists = [list(web, daemon, mirror), list(web, daemon), list(going, daemon), list(daemon, mirror)];
  const answers: object[] = [status('TooManyRequests', 'Cannot evict pod as it would violate the budget'), {}];
  const { deps, requests, stdout } = testDeps(
    { [GET]: node, [PATCH]: node, [LIST]: () => lists.shift() ?? list(), [evictionOf('web')]: () => answers.shift() ?? {} },
    { clock },
  );
  const done = run(deps, { force: false }, 'n1');
  for (let round = 1; round <= 3; round += 1) {
    await until(() => lists.length === 4 - round, `look ${round}`);
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    clock.advance(500);
  }
  await done;
  assert.deepEqual(requests[1], [PATCH, { spec: { unschedulable: true } }]);
  assert.equal(requests.filter(([request]) => request.startsWith('POST')).length, 2);
  assert.match(stdout(), /node n1 is empty: 1 Pod has left/);
});

test('a machine that is moved away shows how far it is', async () => {
  const progress = { stage: 'Memory', bytesDone: 2 ** 20, bytesLeft: 2 ** 20, bytesPerSecond: 0, lastUpdate: '2026-01-01T00:00:00Z' };
  const migrationState = { migrationUid: 'm', targetNode: 'n2', progress };
  const instance = (status: object) => ({ metadata: { name: 'db', namespace: 'default' }, spec: {}, status });
  const launcher = pod('launcher', 'VirtualMachineInstance', {
    labels: { 'kubevirt.io': 'virt-launcher' },
    annotations: { 'kubevirt.io/domain': 'db' },
  });
  const answers: [object, string][] = [
    [{ evacuationNodeName: 'n1' }, 'waits to be moved'],
    [{ evacuationNodeName: 'n1', migrationState }, 'moves to n2 [##########----------] memory 50 % · 1 of 2 MiB'],
    [{}, 'held up by a budget'],
  ];
  for (const [status, text] of answers) {
    const { deps } = testDeps({ 'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances/db': instance(status) });
    assert.equal(await heldUpBy(deps.client, launcher as object as Pod), text);
  }
});

test('a Pod that nobody makes again is evicted only by force', async () => {
  const { deps, requests } = testDeps({ [GET]: node, [PATCH]: node, [LIST]: list(pod('alone')) });
  await assert.rejects(run(deps, { force: false }, 'n1'), { code: 'UNMANAGED_PODS' });
  assert.equal(
    requests.some(([request]) => request.startsWith('POST')),
    false,
  );
  const lists = [list(pod('alone')), list()];
  const clock = new FakeClock();
  const forced = testDeps({ [GET]: node, [PATCH]: node, [LIST]: () => lists.shift() ?? list(), [evictionOf('alone')]: {} }, { clock });
  const done = run(forced.deps, { force: true }, 'n1');
  await until(() => forced.requests.some(([request]) => request.startsWith('POST')), 'the eviction');
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  clock.advance(500);
  await done;
});

test('what has not left in time is named, with what holds it up', async () => {
  const clock = new FakeClock();
  const held = status('TooManyRequests', 'the budget says no');
  const { deps } = testDeps({ [GET]: node, [PATCH]: node, [LIST]: list(pod('web', 'ReplicaSet')), [evictionOf('web')]: held }, { clock });
  const done = assert.rejects(run(deps, { force: false, timeout: 1 }, 'n1'), { code: 'PODS_LEFT', why: 'the budget says no' });
  for (let round = 0; round < 6; round += 1) {
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    clock.advance(500);
  }
  await done;
});

test('a time that is none is refused', async () => {
  for (const timeout of [0, -1, Number.NaN]) await assert.rejects(run(testDeps().deps, { force: false, timeout }, 'n1'), { code: 'USAGE' });
});
