import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

export const step: Step = {
  after: 'top',
  async run(world) {
    assert.match(await world.say('dns'), /^guest\.default\.vm\.cluster\.local +10\.244\./m);
  },
};
