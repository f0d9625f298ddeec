/** What holds for every command that shows what the agent in a guest says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status, testDeps } from '../deps.testing.ts';
import type { ClusterDeps, ConnectionFlags } from '../deps.ts';

type Run = (deps: ClusterDeps, flags: ConnectionFlags, ...words: string[]) => Promise<void>;

/** Tests the command that shows this subresource of the instance. */
export function testGuestInfo(run: Run, subresource: string): void {
  const call = `GET /apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/db/${subresource}`;

  test('the answer of the agent is printed as JSON', async () => {
    const { deps, stdout } = testDeps({ [call]: { items: [{ name: 'first' }] } });
    await run(deps, {}, 'vm', 'db');
    assert.equal(stdout(), '{\n  "items": [\n    {\n      "name": "first"\n    }\n  ]\n}\n');
  });

  test('a guest without an agent is told, and nothing is printed', async () => {
    const { deps, stdout } = testDeps({ [call]: status('Conflict', 'VMI does not have guest agent connected') });
    await assert.rejects(run(deps, {}, 'db'), { reason: 'Conflict', message: /guest agent/ });
    assert.equal(stdout(), '');
  });
}
