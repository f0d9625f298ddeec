import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

export const step: Step = {
  after: 'backup',
  async run(world) {
    const before = world.cluster.pid();
    const instance = await world.cluster.field('vmi', 'guest', '.metadata.uid');
    const booted = await world.inGuest('cat /proc/sys/kernel/random/boot_id');
    const said = await world.say('upgrade');
    assert.match(
      said,
      /start +v\S+ serves at https:\/\/127\.0\.0\.1:\d+[\s\S]*, as before; [1-9]\d* guests? kept running\n +the objects as they were: \S+\n$/,
    );
    assert.notEqual(world.cluster.pid(), before, 'another process serves');
    await world.status('Running');
    assert.equal(await world.cluster.field('vmi', 'guest', '.metadata.uid'), instance);
    assert.equal(await world.inGuest('cat /proc/sys/kernel/random/boot_id'), booted, 'the guest did not notice');
  },
};
