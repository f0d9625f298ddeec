import assert from 'node:assert/strict';
import type { Step } from '../../../step.testing.ts';

export const step: Step = {
  after: 'image search',
  async run(world) {
    assert.match(await world.say('image', 'catalogue'), /\ntiny +root +128Mi .* The demo guest: /);
  },
};
