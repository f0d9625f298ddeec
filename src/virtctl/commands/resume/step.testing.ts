import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

export const step: Step = {
  after: 'delete',
  async run(world) {
    const { code, stderr } = await world.cluster.virtctl(['resume', 'guest']);
    assert.notEqual(code, 0);
    assert.match(stderr, /not suspended/);
  },
};
