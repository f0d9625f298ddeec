import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

/** test/e2e/volumes.test.ts attaches one. */
export const step: Step = {
  after: 'resize',
  async run(world) {
    const { code, stderr } = await world.cluster.virtctl(['addvolume', 'guest', '--volume-name', 'guest-root']);
    assert.deepEqual([code, /already exists/.test(stderr)], [4, true], stderr);
  },
};
