import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

export const step: Step = {
  after: 'up',
  async run(world) {
    assert.match(await world.say('status'), new RegExp(`running for .*, process ${world.cluster.pid()}, https://127\\.0\\.0\\.1:\\d+\n`));
  },
};
