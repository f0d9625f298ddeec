import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

export const step: Step = {
  after: 'kubeconfig',
  async run(world) {
    assert.match(await world.say('version'), /^Client Version: \S+\nServer Version: \S+\n$/);
    const { stderr } = await world.cluster.virtctl(['version', '-v', '6']);
    assert.match(stderr, /^GET https:\S+\/apis\/subresources\.kubevirt\.io\/v1\/version 200(?: OK)? in \d+ ms\n$/);
  },
};
