/** What virtctl makes, and what it shows of machines whose processes and logs are in Pods on other nodes. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { pushGuest } from '../push-images.ts';
import { eventually, type World } from './world.ts';

export function lookingScenarios(shared: World): void {
  const world = shared.in('looking');
  const shown = async (...args: string[]) => {
    const { code, stdout, stderr } = await world.virtctl(...args);
    assert.equal(code, 0, stderr);
    return stdout;
  };

  describe('what virtctl makes and shows of machines', () => {
    before(async () => {
      await world.makeNamespace();
      await world.apply(world.machine('seen'));
      await world.untilReady('seen');
    });
    after(() => shared.kubectl('delete', 'namespace', 'looking', '--timeout=400s'));

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

    test('run: the disk of the machine keeps what its guest writes, and goes with it', async () => {
      await pushGuest(world.cluster, 'tiny', 'guests/tiny:latest');
      await shown('run', 'tiny', '--name', 'kept', '--memory', '128Mi', '--disk', '1Gi', '--detach');
      await world.untilReady('kept');
      const block = 'bs=512 count=1 conv=sync,fsync 2>/dev/null';
      await world.inGuest('kept', `echo still-there | dd of=/dev/vda seek=1500000 ${block}`);
      await shown('stop', 'kept');
      await world.until('vm/kept', '.status.printableStatus', 'Stopped');
      await shown('start', 'kept');
      await world.untilReady('kept');
      assert.match(await world.inGuest('kept', 'dd if=/dev/vda skip=1500000 bs=512 count=1 2>/dev/null | head -n 1'), /^still-there$/m);
      await world.kubectl('delete', 'vm', 'kept', '--timeout=400s');
      await eventually(async () => assert.equal(await world.kubectl('get', 'pvc', '-o', 'name'), ''));
    });
  });
}
