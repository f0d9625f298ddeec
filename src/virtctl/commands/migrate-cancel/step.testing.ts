import assert from 'node:assert/strict';
import { until } from '../../../testing/until.ts';
import type { Step } from '../../step.testing.ts';

/** It waits for a node that is not there; test/e2e/migration.test.ts cancels a move that is under way. */
export const step: Step = {
  after: 'migrate',
  async run(world) {
    assert.equal(await world.say('migrate-cancel', 'guest'), 'VM guest was scheduled to migrate-cancel\n');
    const isOver = async () => {
      const { code, stderr } = await world.cluster.virtctl(['migrate-cancel', 'guest']);
      return code === 3 && /Found no migration to cancel for guest/.test(stderr);
    };
    await until(isOver, 'the end of the migration');
  },
};
