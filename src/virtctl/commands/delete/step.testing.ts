import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

export const step: Step = {
  after: 'describe',
  async run(world) {
    await world.say('run', 'tiny', '--name', 'gone', '--disk', '64Mi', '--detach');
    assert.equal(await world.say('delete', 'gone'), 'VM gone was deleted\n');
    assert.equal((await world.cluster.virtctl(['delete', 'nobody', 'guest'])).code, 3);
    assert.match(await world.say('list'), /\nguest +Running /);
  },
};
