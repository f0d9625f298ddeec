import type { Step } from '../../../step.testing.ts';

export const step: Step = {
  after: 'vmexport download',
  async run(world) {
    await world.say('vmexport', 'delete', 'taken');
  },
};
