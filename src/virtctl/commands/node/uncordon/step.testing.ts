import assert from 'node:assert/strict';
import type { Step } from '../../../step.testing.ts';

export const step: Step = {
  after: 'node drain',
  async run(world) {
    const [node = ''] = /^\S+(?= +Ready,Sch)/m.exec(await world.say('node', 'ls')) ?? [];
    assert.match(await world.say('node', 'uncordon', node), /takes Pods again/);
    await world.status('Running');
  },
};
