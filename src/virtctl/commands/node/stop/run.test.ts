import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANNOTATION_NODE_POWER, ANNOTATION_NODE_POWER_WANTED } from '../../../../api/kubevirt/names.ts';
import { FakeClock } from '../../../../testing/fake-clock.ts';
import { until } from '../../../../testing/until.ts';
import { testDeps } from '../../../deps.testing.ts';
import type { ClusterDeps } from '../../../deps.ts';
import { run as kill } from '../kill/run.ts';
import { run as start } from '../start/run.ts';
import { run } from './run.ts';

const GET = 'GET /api/v1/nodes/n1';
const PATCH = 'PATCH /api/v1/nodes/n1';
const node = (power?: string) => ({ kind: 'Node', metadata: { name: 'n1', annotations: power ? { [ANNOTATION_NODE_POWER]: power } : {} } });

test('stop asks, and waits until the node says that it is stopped', async () => {
  const clock = new FakeClock();
  const said = ['running', 'running', 'stopped'];
  const { deps, requests, stdout } = testDeps({ [GET]: () => node(said.shift()), [PATCH]: node('running') }, { clock });
  const done = run(deps, {}, 'n1');
  for (const count of [2, 3]) {
    await until(() => requests.length === count, 'the next look');
    await new Promise(setImmediate);
    clock.advance(100);
  }
  await done;
  assert.deepEqual(requests[1], [PATCH, { metadata: { annotations: { [ANNOTATION_NODE_POWER_WANTED]: 'stopped' } } }]);
  assert.match(stdout(), /node n1 is stopped/);
});

test('one that was killed is stopped', async () => {
  const { deps, requests } = testDeps({ [GET]: node('killed'), [PATCH]: node('killed') });
  await run(deps, {}, 'n1');
  assert.equal(requests.length, 2);
});

for (const [name, command] of Object.entries({
  stop: (deps: ClusterDeps) => run(deps, {}, 'n1'),
  start: (deps: ClusterDeps) => start(deps, {}, 'n1'),
  kill: (deps: ClusterDeps) => kill(deps, { yes: false }, 'n1'),
}))
  test(`${name} writes nothing to a node of a real cluster, and says why`, async () => {
    const { deps, requests } = testDeps({ [GET]: node() });
    await assert.rejects(command(deps), { code: 'NOT_EMBEDDED' });
    assert.deepEqual(requests, [[GET, undefined]]);
  });

test('a node that does not follow within a minute is an error that says so', async () => {
  const clock = new FakeClock();
  const { deps } = testDeps({ [GET]: node('running'), [PATCH]: node('running') }, { clock });
  const done = assert.rejects(run(deps, {}, 'n1'), { code: 'STILL_WAITING' });
  for (let turn = 0; turn < 20; turn += 1) {
    for (let each = 0; each < 20; each += 1) await new Promise(setImmediate);
    clock.advance(10_000);
  }
  await done;
});
