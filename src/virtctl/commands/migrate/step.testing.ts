import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

/** The guest has a disk of its own that one node has alone; test/e2e/migration.test.ts moves one. */
export const step: Step = {
  after: 'unpause',
  async run({ cluster }) {
    for (const args of [
      ['migrate', 'guest', '--check'],
      ['migrate', 'guest'],
    ]) {
      const { code, stderr } = await cluster.virtctl(args);
      assert.equal(code, 4);
      assert.match(stderr, /PVC guest-root is not shared/);
    }
  },
};
