/** What virtctl shows of machines whose processes and logs are on other nodes, in Pods. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventually, type World } from './world.ts';

export function lookingScenarios(shared: World): void {
  const world = shared.in('looking');
  const shown = async (...args: string[]) => {
    const { code, stdout, stderr } = await world.virtctl(...args);
    assert.equal(code, 0, stderr);
    return stdout;
  };

  describe('what virtctl shows of machines', () => {
    before(async () => {
      await world.makeNamespace();
      await world.apply(world.machine('seen'));
      await world.untilReady('seen');
    });
    after(() => shared.kubectl('delete', 'namespace', 'looking', '--timeout=150s'));

    test('top: the processor and the memory that its Pod uses', async () => {
      const table = await shown('top');
      const [, cores, memory] = /^seen +(\d+)m +1 +(\d+)Mi +128Mi +node\d$/m.exec(table) ?? [];
      assert.ok(Number(cores) >= 0 && Number(cores) < 16_000, table);
      assert.ok(Number(memory) > 16 && Number(memory) < 1024, table);
    });

    test('logs: what the guest printed, and what it printed before it was restarted', async () => {
      await eventually(async () => assert.match(await shown('logs', 'seen'), /guest ready/));
      const mark = 'printed in the first run';
      await world.inGuest('seen', `echo ${mark} > /dev/ttyS0`);
      const { uid } = (await world.vmi('seen')).metadata;
      await shown('restart', 'seen');
      await eventually(async () => assert.notEqual((await world.vmi('seen')).metadata.uid, uid));
      await world.untilReady('seen');
      assert.doesNotMatch(await shown('logs', 'seen'), new RegExp(mark));
      assert.match(await shown('logs', 'seen', '--previous'), new RegExp(`guest ready.*${mark}`, 's'));
    });
  });
}
