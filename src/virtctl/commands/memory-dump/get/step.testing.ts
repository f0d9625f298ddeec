import assert from 'node:assert/strict';
import type { Step } from '../../../step.testing.ts';

/** test/e2e/suspend.test.ts makes a dump. */
export const step: Step = {
  after: 'resize',
  async run(world) {
    const { code, stderr } = await world.cluster.virtctl(['memory-dump', 'get', 'guest', '--claim-name', 'guest-root']);
    assert.deepEqual([code, /use another PVC/.test(stderr)], [4, true], stderr);
  },
};
