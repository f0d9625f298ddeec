import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

export const step: Step = {
  after: 'exec',
  async run(world) {
    assert.equal(JSON.parse(await world.say('guestosinfo', 'guest')).os.id, 'kubevirt-ts-guest');
  },
};
