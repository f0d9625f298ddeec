import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

export const step: Step = {
  after: 'console',
  async run(world) {
    assert.match(await world.say('logs', 'guest'), /\nguest ready\n/);
    assert.match(await world.say('logs', '--system', '--tail', '1'), /^\d{4}-\d\d-\d\d .*\n$/);
  },
};
