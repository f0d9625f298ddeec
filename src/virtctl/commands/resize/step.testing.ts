import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

/** test/e2e/volumes.test.ts looks at it in the guest. */
export const step: Step = {
  after: 'delete',
  async run(world) {
    assert.match(await world.say('resize', 'guest', '1100Mi'), /PVC guest-root\) grows to 1100Mi while it runs/);
    const { code, stderr } = await world.cluster.virtctl(['resize', 'guest', '1Gi']);
    assert.deepEqual([code, /can grow and not shrink/.test(stderr)], [2, true], stderr);
  },
};
