import assert from 'node:assert/strict';
import type { Step } from '../../../step.testing.ts';

export const step: Step = {
  after: 'doctor',
  async run(world) {
    assert.match(await world.say('image', 'list'), /^NAME +DIGEST +SIZE\n(.*\n)*localhost\/guests\/agent:latest +[0-9a-f]{12} +\d+Mi\n/);
  },
};
