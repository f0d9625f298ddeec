import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

/** Somebody has asked for its eviction; nobody does any more. */
export const step: Step = {
  after: 'migrate-cancel',
  async run(world) {
    assert.equal(await world.say('evacuate-cancel', 'guest'), 'VM default/guest was canceled evacuation\n');
    assert.equal(await world.cluster.field('vmi', 'guest', '.status.evacuationNodeName'), '');
  },
};
