import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDeps } from '../../../deps.testing.ts';
import { run } from './run.ts';

const flags = { keepVme: false, deleteVme: false, manifest: false, includeSecret: false, insecure: false, portForward: false };

test('flags that contradict each other are refused before anything is asked', async () => {
  const wrong: [object, RegExp][] = [
    [{ format: 'vmdk' }, /vmdk is not gzip or raw/],
    [{ keepVme: true, deleteVme: true }, /exclude each other/],
    [{ manifest: true, volume: 'disk' }, /that of a machine/],
    [{ manifest: true, pvc: 'disk' }, /that of a machine/],
    [{ manifestOutputFormat: 'xml' }, /xml is not yaml or json/],
    [{ vm: 'a', snapshot: 'b' }, /exclude each other/],
    [{ output: '' }, /is empty/],
  ];
  for (const [change, message] of wrong) {
    const { deps, requests } = testDeps({});
    await assert.rejects(run(deps, { ...flags, ...change }, 'out'), { code: 'USAGE', message });
    assert.deepEqual(requests, []);
  }
});

test('an export that is not there is said so', async () => {
  await assert.rejects(run(testDeps({}).deps, flags, 'out'), { reason: 'NotFound' });
});
