import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

export const step: Step = {
  after: 'create vm',
  async run(world) {
    const expanded = JSON.parse(await world.say('expand', '--vm', 'written', '-o', 'json'));
    assert.equal(expanded.spec.template.spec.domain.machine.type, 'q35');
    assert.equal(await world.cluster.field('vm', 'written', '.spec.template.spec.domain.machine.type'), '');
  },
};
