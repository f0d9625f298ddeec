import assert from 'node:assert/strict';
import type { Step } from '../../../step.testing.ts';

export const step: Step = {
  after: 'memory-dump get',
  async run(world) {
    const { code, stderr } = await world.cluster.virtctl(['memory-dump', 'remove', 'guest']);
    assert.deepEqual([code, /VM has no memory dump/.test(stderr)], [4, true], stderr);
  },
};
