import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

export const step: Step = {
  after: 'migrate',
  async run(world) {
    assert.equal(await world.say('migrate-cancel', 'guest'), 'VM guest was scheduled to migrate-cancel\n');
    await world.status('Running');
  },
};
