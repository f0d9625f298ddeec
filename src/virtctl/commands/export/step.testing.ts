import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

/** The guest runs: what is told of it is all that can be had. test/e2e/exports.test.ts carries a machine away. */
export const step: Step = {
  after: 'vmexport delete',
  async run(world) {
    const { code, stderr } = await world.cluster.virtctl(['export', 'nobody', world.file('machine.tar')]);
    assert.deepEqual([code, /nobody/.test(stderr)], [3, true]);
  },
};
