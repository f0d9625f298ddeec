import assert from 'node:assert/strict';
import type { Step } from '../../../step.testing.ts';

export const step: Step = {
  after: 'node kill',
  async run(world) {
    const node = await world.cluster.field('vmi', 'guest', '.status.nodeName');
    assert.match(await world.say('node', 'drain', node), /node \S+ is empty: 1 Pod has left/);
    assert.match(await world.say('node', 'ls'), /^\S+ +Ready,SchedulingDisabled +yes +0 /m);
  },
};
