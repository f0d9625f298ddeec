import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

export const step: Step = {
  after: 'run',
  async run(world) {
    assert.match(await world.say('ls'), /^NAME +STATUS +AGE +IP +NODE\nguest +Running +\d+s +\d+\.244\.\d+\.\d+ +\S+\n$/);
  },
};
