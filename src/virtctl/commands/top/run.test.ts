import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vmi } from '../../../testing/builders.ts';
import { FakeClock } from '../../../testing/fake-clock.ts';
import { until } from '../../../testing/until.ts';
import { status, testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const LIST = 'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances';
const USAGE = 'GET /apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/db/usage';

test('two measurements make a rate', async () => {
  const clock = new FakeClock();
  const { deps, requests, stdout } = testDeps(
    {
      [LIST]: { metadata: {}, items: [vmi('Running', { nodeName: 'n1' })] },
      [USAGE]: () => ({ cpuSeconds: clock.now() / 2000, memoryBytes: 64 * 2 ** 20, atMs: clock.now() }),
    },
    { clock },
  );
  const done = run(deps, { allNamespaces: false, history: false });
  await until(() => requests.length === 2, 'the first measurement');
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(2000);
  await done;
  assert.equal(requests.length, 3);
  assert.match(stdout(), /^NAME .*\ndb +500m +1 +64Mi +128Mi +n1\n$/);
});

test('a guest that cannot be measured is a line and a note', async () => {
  const { deps, stdout, stderr } = testDeps({
    [LIST]: { metadata: {}, items: [vmi('Running')] },
    [USAGE]: status('Conflict', 'not now'),
  });
  await run(deps, { allNamespaces: false, history: false }, 'db');
  assert.match(stdout(), /\ndb /);
  assert.equal(stderr(), 'note: not now\n');
});

test('a machine that does not run is not found; where none runs, that is said', async () => {
  const none = { [LIST]: { metadata: {}, items: [vmi('Scheduling')] } };
  await assert.rejects(run(testDeps(none).deps, { allNamespaces: false, history: false }, 'db'), { reason: 'NotFound' });
  const { deps, stderr } = testDeps(none);
  await run(deps, { allNamespaces: false, history: false });
  assert.equal(stderr(), 'no machine is running\n');
});

test('the history is asked of the nodes, for as long as was said', async () => {
  const clock = new FakeClock();
  const points = [{ atSeconds: Math.floor(clock.now() / 1000), cpuCores: 0.25, residentBytes: 64 * 2 ** 20 }];
  const { deps, stdout } = testDeps(
    {
      [LIST]: { metadata: {}, items: [vmi('Running')] },
      [`${USAGE}history?seconds=5400`]: { stepSeconds: 20, points },
    },
    { clock },
  );
  clock.advance(1000);
  await run(deps, { allNamespaces: false, history: false, since: '90m' });
  assert.match(stdout(), /^NAME .*\ndb +█ +250m +250m +64Mi +64Mi\n$/);
  await assert.rejects(run(deps, { allNamespaces: false, history: false, since: '11h' }), { code: 'USAGE', exitCode: 2 });
});
