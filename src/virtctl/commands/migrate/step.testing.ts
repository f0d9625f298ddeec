import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

/** There is no other node: it waits for one, until it is cancelled. test/e2e/migration.test.ts moves a guest. */
export const step: Step = {
  after: 'unpause',
  async run(world) {
    assert.equal(await world.say('migrate', 'guest', '--check'), 'VM guest can be moved\n');
    assert.equal(await world.say('migrate', 'guest'), 'VM guest was scheduled to migrate\n');
  },
};
