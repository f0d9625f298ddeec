import type { Step } from '../../../step.testing.ts';

/** Of the disk that image-upload has sent; test/e2e/exports.test.ts takes whole machines away. */
export const step: Step = {
  after: 'image-upload',
  async run(world) {
    await world.say('vmexport', 'create', 'taken', '--pvc', 'sent');
  },
};
