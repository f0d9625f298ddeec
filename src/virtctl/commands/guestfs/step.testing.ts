import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

/** Which claims there are is another command's to make: here what is said of one that is not there, and that nothing is left of it. */
export const step: Step = {
  after: 'expand',
  async run(world) {
    const { code, stderr } = await world.cluster.virtctl(['guestfs', 'nothing']);
    assert.equal(code, 3, stderr);
    assert.match(stderr, /there is no PVC "nothing" in namespace default/);
  },
};
