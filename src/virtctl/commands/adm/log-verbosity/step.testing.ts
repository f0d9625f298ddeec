import assert from 'node:assert/strict';
import type { Step } from '../../../step.testing.ts';

export const step: Step = {
  after: 'version',
  async run(world) {
    await world.say('adm', 'log-verbosity', '--virt-handler', '5');
    assert.match(await world.say('adm', 'log-verbosity'), /^virt-handler = 5$/m);
    await world.say('adm', 'log-verbosity', '--reset');
    assert.match(await world.say('adm', 'log-verbosity'), /^virt-handler = 2$/m);
  },
};
