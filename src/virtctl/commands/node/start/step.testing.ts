import assert from 'node:assert/strict';
import type { Step } from '../../../step.testing.ts';

export const step: Step = {
  after: 'node stop',
  async run(world) {
    const [node, uid] = [
      await world.cluster.field('vmi', 'guest', '.status.nodeName'),
      await world.cluster.field('vmi', 'guest', '.metadata.uid'),
    ];
    await world.say('node', 'start', node);
    assert.equal(await world.inGuest('echo $((6 * 7))'), '42');
    assert.equal(await world.cluster.field('vmi', 'guest', '.metadata.uid'), uid);
  },
};
