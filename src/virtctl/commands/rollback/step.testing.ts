import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

export const step: Step = {
  after: 'snapshots',
  async run(world) {
    const { code, stderr } = await world.cluster.virtctl(['rollback', 'guest', 'first']);
    assert.deepEqual([code, /cannot become what it was while it runs/.test(stderr)], [4, true], stderr);
  },
};
