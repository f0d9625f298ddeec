import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status, testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const callOf = (resource: string) => `PUT /apis/subresources.kubevirt.io/v1/namespaces/default/${resource}/db/evacuate/cancel`;

test('it is one request for each machine, to the kind that was said', async () => {
  for (const [words, resource, said] of [
    [['db'], 'virtualmachines', 'VM'],
    [['vmi', 'db'], 'virtualmachineinstances', 'VMI'],
  ] as const) {
    const { deps, requests, stdout } = testDeps({ [callOf(resource)]: {} });
    await run(deps, { dryRun: false }, ...words);
    assert.deepEqual([requests, stdout()], [[[callOf(resource), {}]], `${said} default/db was canceled evacuation\n`]);
  }
});

test('a dry run is said to the server', async () => {
  const { deps, requests } = testDeps({ [callOf('virtualmachines')]: {} });
  await run(deps, { dryRun: true }, 'db');
  assert.deepEqual(requests, [[callOf('virtualmachines'), { dryRun: ['All'] }]]);
});

test('what the server refuses is told', async () => {
  const { deps, stdout } = testDeps({ [callOf('virtualmachines')]: status('NotFound', 'there is none') });
  await assert.rejects(run(deps, { dryRun: false }, 'db'), { reason: 'NotFound' });
  assert.equal(stdout(), '');
});
