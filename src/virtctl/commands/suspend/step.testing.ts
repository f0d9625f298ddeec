import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

/** test/e2e/suspend.test.ts suspends one, and resumes it. */
export const step: Step = {
  after: 'delete',
  async run(world) {
    await world.say('pause', 'guest');
    const { code, stderr } = await world.cluster.virtctl(['suspend', 'guest']);
    await world.say('unpause', 'guest');
    assert.notEqual(code, 0);
    assert.match(stderr, /paused/);
  },
};
