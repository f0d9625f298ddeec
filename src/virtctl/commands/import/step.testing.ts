import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import type { Step } from '../../step.testing.ts';

/** test/e2e/exports.test.ts makes a machine of a file. */
export const step: Step = {
  after: 'export',
  async run(world) {
    writeFileSync(world.file('none.tar'), Buffer.alloc(2048, 'x'));
    const { code, stderr } = await world.cluster.virtctl(['import', world.file('none.tar')]);
    assert.deepEqual([code, /FILE_DAMAGED/.test(stderr)], [4, true]);
  },
};
