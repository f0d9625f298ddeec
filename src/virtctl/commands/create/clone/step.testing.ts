import assert from 'node:assert/strict';
import type { Step } from '../../../step.testing.ts';

export const step: Step = {
  after: 'create vm',
  async run(world) {
    assert.match(await world.say('create', 'clone', '--source-name', 'guest'), /^kind: VirtualMachineClone$/m);
  },
};
