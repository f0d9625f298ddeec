import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vm } from '../../../testing/builders.ts';
import { status, testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const VM = 'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachines/db';
const NODES = 'GET /api/v1/nodes';

/** Lists of events have selectors in their paths that are not what this is about. */
function stopped() {
  const { deps, ...rest } = testDeps({ [VM]: vm('Halted', { printableStatus: 'Stopped' }), [NODES]: status('Forbidden', 'no') });
  const { list } = deps.client;
  const client = {
    ...deps.client,
    list: ((resource, options) =>
      resource.plural === 'events' ? Promise.resolve({ items: [], resourceVersion: '1' }) : list(resource, options)) as typeof list,
  };
  return { deps: { ...deps, client }, ...rest };
}

test('the answer, what was seen and what comes next', async () => {
  const { deps, stdout } = stopped();
  await run(deps, { json: false }, 'db');
  assert.equal(stdout(), 'db is stopped, as its run strategy says\n  seen: run strategy Halted\n  fix:  virtctl start db\n');
});

test('the same for programs', async () => {
  const { deps, stdout } = stopped();
  await run(deps, { json: true }, 'db');
  assert.equal(JSON.parse(stdout()).fix, 'virtctl start db');
});

test('a machine that is not there is an error', async () => {
  const { deps } = testDeps({ [NODES]: { metadata: {}, items: [] } });
  await assert.rejects(run(deps, { json: false }, 'db'), { reason: 'NotFound', message: /no virtual machine "db"/ });
});
