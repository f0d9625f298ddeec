import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

export const step: Step = {
  after: 'delete',
  async run(world) {
    const { code, stderr } = await world.cluster.virtctl(['resize', 'guest', '1Gi']);
    assert.deepEqual([code, /cannot grow while it runs/.test(stderr)], [4, true], stderr);
  },
};
