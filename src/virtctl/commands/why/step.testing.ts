import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

export const step: Step = {
  after: 'ls',
  async run(world) {
    assert.match(await world.say('why', 'guest'), /nothing blocks: guest is running/);
  },
};
