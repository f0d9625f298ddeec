import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const ALL = '/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstancemigrations';
const migration = (name: string, vmiName: string, phase: string) => ({
  metadata: { namespace: 'default', name, uid: `of-${name}` },
  spec: { vmiName },
  status: { phase },
});
const items = [migration('old', 'db', 'Succeeded'), migration('other', 'web', 'Running'), migration('now', 'db', 'Running')];

test('the migration that is under way is deleted, and no other', async () => {
  const { deps, requests, stdout } = testDeps({ [`GET ${ALL}`]: { metadata: {}, items }, [`DELETE ${ALL}/now`]: {} });
  await run(deps, { dryRun: false }, 'db');
  assert.deepEqual(
    requests.map(([request]) => request),
    [`GET ${ALL}`, `DELETE ${ALL}/now`],
  );
  assert.equal(stdout(), 'VM db was scheduled to migrate-cancel\n');
});

test('where nothing is moved there is nothing to cancel', async () => {
  const { deps } = testDeps({ [`GET ${ALL}`]: { metadata: {}, items: items.slice(0, 2) } });
  await assert.rejects(run(deps, { dryRun: false }, 'db'), { reason: 'NotFound', message: 'Found no migration to cancel for db' });
});
