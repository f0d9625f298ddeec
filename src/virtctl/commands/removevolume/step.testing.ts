import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

/** test/e2e/volumes.test.ts takes one away. */
export const step: Step = {
  after: 'addvolume',
  async run(world) {
    const { code, stderr } = await world.cluster.virtctl(['removevolume', 'guest', '--volume-name', 'other']);
    assert.deepEqual([code, /does not exist/.test(stderr)], [4, true], stderr);
  },
};
