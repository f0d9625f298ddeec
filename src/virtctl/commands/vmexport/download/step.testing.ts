import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Step } from '../../../step.testing.ts';

export const step: Step = {
  after: 'vmexport create',
  async run(world) {
    const path = world.file('taken.img');
    await world.say('vmexport', 'download', 'taken', '--format', 'raw', '--output', path);
    assert.equal(readFileSync(path).subarray(0, 4).toString(), 'sent');
  },
};
