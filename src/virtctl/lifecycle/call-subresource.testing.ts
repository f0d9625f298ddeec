/** What holds for every command that asks something of a running guest. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status, testDeps } from '../deps.testing.ts';
import type { ClusterDeps } from '../deps.ts';
import type { LifecycleFlags } from './call-subresource.ts';

type Run = (deps: ClusterDeps, flags: LifecycleFlags, ...words: string[]) => Promise<void>;

/** Tests the command of this name, which calls this subresource of the instance. */
export function testCallOfInstance(run: Run, { command, subresource }: { readonly command: string; readonly subresource: string }): void {
  const call = `PUT /apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/db/${subresource}`;
  const done = `VMI db was scheduled to ${command}\n`;

  test('the running guest is asked, whatever kind was said', async () => {
    for (const words of [['db'], ['vm', 'db'], ['vmi/db']]) {
      const { deps, requests, stdout } = testDeps({ [call]: {} });
      await run(deps, { dryRun: false }, ...words);
      assert.deepEqual([requests, stdout()], [[[call, {}]], done]);
    }
  });

  test('a dry run is said to the server and to the user', async () => {
    const { deps, requests, stdout } = testDeps({ [call]: {} });
    await run(deps, { dryRun: true }, 'db');
    assert.deepEqual([requests, stdout()], [[[call, { dryRun: ['All'] }]], `Dry Run execution\n${done}`]);
  });

  test('what the server refuses is told', async () => {
    for (const [reason, message] of [
      ['Conflict', 'VMI is in the wrong state'],
      ['NotFound', 'virtualmachineinstances "db" not found'],
    ] as const) {
      const { deps, stdout } = testDeps({ [call]: status(reason, message) });
      await assert.rejects(run(deps, { dryRun: false }, 'db'), { reason, message });
      assert.equal(stdout(), '');
    }
  });
}
