import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

export const step: Step = {
  after: 'snapshots',
  async run(world) {
    const { code, stderr } = await world.cluster.virtctl(['clone', 'guest', 'guest']);
    assert.deepEqual([code, /there is a virtual machine "guest" already/.test(stderr)], [4, true], stderr);
  },
};
