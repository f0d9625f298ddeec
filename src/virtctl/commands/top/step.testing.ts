import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

export const step: Step = {
  after: 'logs',
  async run(world) {
    assert.match(await world.say('top', 'guest'), /^guest +\d+m +1 +\d+Mi +192Mi +\S+$/m);
    assert.match(await world.say('top', 'guest', '--history'), /^guest +\S/m);
  },
};
