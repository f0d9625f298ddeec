import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

export const step: Step = {
  after: 'delete',
  async run(world) {
    assert.match(await world.say('snapshot', 'guest', 'first'), /^guest is kept as first: /);
  },
};
