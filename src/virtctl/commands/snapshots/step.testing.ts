import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

export const step: Step = {
  after: 'snapshot',
  async run(world) {
    assert.match(await world.say('snapshots', 'guest'), /^first +Succeeded .* \d+[KMG]i +/m);
  },
};
