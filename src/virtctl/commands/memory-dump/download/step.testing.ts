import assert from 'node:assert/strict';
import type { Step } from '../../../step.testing.ts';

/** test/e2e/suspend.test.ts makes a dump, and takes it. */
export const step: Step = {
  after: 'memory-dump get',
  async run(world) {
    const { code, stderr } = await world.cluster.virtctl(['memory-dump', 'download', 'guest', '--output', world.file('dump.tar.gz')]);
    assert.deepEqual([code, /has no memory dump/.test(stderr)], [4, true], stderr);
  },
};
