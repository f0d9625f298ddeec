import assert from 'node:assert/strict';
import type { Step } from '../../../step.testing.ts';

export const step: Step = {
  after: 'expose',
  async run(world) {
    assert.match(await world.say('node', 'ls'), /^\S+ +Ready +yes +1 /m);
  },
};
