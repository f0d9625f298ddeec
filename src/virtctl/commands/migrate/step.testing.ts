import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

export const step: Step = {
  after: 'unpause',
  async run(world) {
    assert.equal(await world.say('migrate', 'guest', '--check'), 'VM guest can be moved\n');
    // there is one node only: test/e2e/migration.test.ts has two
    assert.equal(await world.say('migrate', 'guest'), 'VM guest was scheduled to migrate\n');
    await world.status('Running');
  },
};
