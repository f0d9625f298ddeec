import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../testing/fake-clock.ts';
import { testDeps } from '../deps.testing.ts';
import { untilReady } from './export-object.ts';

const AT = 'GET /apis/export.kubevirt.io/v1/namespaces/default/virtualmachineexports/mine';

test('what somebody can do something about is said once while it is waited for', async () => {
  const said = (phase: string, reason: string, message: string) => ({
    metadata: { name: 'mine' },
    status: { phase, conditions: [{ type: 'Ready', status: phase === 'Ready' ? 'True' : 'False', reason, message }] },
  });
  const running = said('Pending', 'InUse', 'VirtualMachine db is running: stop it');
  const states = [
    said('Pending', 'Initializing', 'it begins'),
    running,
    running,
    said('Pending', 'PodPending', 'no Pod'),
    said('Ready', '', ''),
  ];
  const clock = Object.assign(new FakeClock(), { sleep: async () => {} });
  const { deps, stderr } = testDeps({ [AT]: () => states.shift() ?? {} }, { clock });
  assert.equal((await untilReady(deps, 'mine', { signal: new AbortController().signal })).status?.phase, 'Ready');
  assert.equal(stderr(), 'waiting: VirtualMachine db is running: stop it\n');
});
