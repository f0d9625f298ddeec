import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

export const step: Step = {
  after: 'ls',
  async run(world) {
    assert.match(await world.say('describe', 'guest'), /^Namespace: +default\nName: +guest\nStatus: +Running\n/);
    assert.match(await world.say('list'), /^NAME +STATUS .*\nguest +Running /);
  },
};
