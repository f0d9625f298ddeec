import assert from 'node:assert/strict';
import type { Step, World } from '../../step.testing.ts';

const BOOT_ID = ['cat', '/proc/sys/kernel/random/boot_id'];
const PATIENCE_MS = 120_000;

export const step: Step = {
  after: 'backup',
  async run(world) {
    const before = world.cluster.pid();
    const instance = await world.cluster.field('vmi', 'guest', '.metadata.uid');
    const booted = await bootIdOf(world);
    const said = await world.say('upgrade');
    assert.match(said, /✓ start +v\S+ serves at https:\/\/127\.0\.0\.1:\d+/);
    assert.match(said, /, as before; [1-9]\d* guests? kept running\n +the objects as they were: \S+\n$/);
    assert.notEqual(world.cluster.pid(), before, 'another process serves');
    await world.status('Running');
    assert.equal(await world.cluster.field('vmi', 'guest', '.metadata.uid'), instance);
    assert.equal(await bootIdOf(world), booted, 'the guest did not notice');
  },
};

/** The guest agent is spoken to a moment after the cluster serves. */
async function bootIdOf(world: World): Promise<string> {
  for (const deadline = performance.now() + PATIENCE_MS; ; ) {
    const { code, stdout, stderr } = await world.cluster.virtctl(['exec', 'guest', '--', ...BOOT_ID]);
    if (code === 0) return stdout;
    assert.ok(performance.now() < deadline, stderr);
  }
}
