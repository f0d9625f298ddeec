import { writeFileSync } from 'node:fs';
import type { Step } from '../../step.testing.ts';

/** A disk without a system; test/e2e/uploads.test.ts boots from one. */
export const step: Step = {
  after: 'delete',
  async run(world) {
    const path = world.file('sent.img');
    writeFileSync(path, Buffer.alloc(1024 * 1024, 'sent'));
    await world.say('image-upload', 'pvc', 'sent', '--size', '10Mi', '--image-path', path);
    await world.cluster.until('pvc/sent', '.metadata.annotations.cdi\\.kubevirt\\.io/storage\\.pod\\.phase', 'Succeeded'); // told a moment later
  },
};
