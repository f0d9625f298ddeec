import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

/** decide-hotplug.test.ts of virt-handler takes one away from a real QEMU. */
export const step: Step = {
  after: 'addvolume',
  async run(world) {
    const { code, stderr } = await world.cluster.virtctl(['removevolume', 'guest', '--volume-name', 'other']);
    assert.deepEqual([code, /does not exist/.test(stderr)], [4, true], stderr);
  },
};
