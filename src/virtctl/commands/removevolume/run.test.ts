import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

for (const [persist, resource] of [
  [false, 'virtualmachineinstances'],
  [true, 'virtualmachines'],
] as const)
  test(`${persist ? 'with' : 'without'} --persist the volume is taken away from one of the ${resource}`, async () => {
    const call = `PUT /apis/subresources.kubevirt.io/v1/namespaces/default/${resource}/db/removevolume`;
    const { deps, requests, stdout } = testDeps({ [call]: {} });
    await run(deps, { dryRun: persist, persist, volumeName: 'data' }, 'vm/db');
    assert.deepEqual(requests, [[call, { name: 'data', ...(persist && { dryRun: ['All'] }) }]]);
    assert.match(stdout(), /Successfully submitted remove volume request to VM db for volume data\n$/);
  });
