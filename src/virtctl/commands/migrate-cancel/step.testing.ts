import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

/** Nothing of this guest is under way; test/e2e/migration.test.ts cancels a move. */
export const step: Step = {
  after: 'migrate',
  async run({ cluster }) {
    const { code, stderr } = await cluster.virtctl(['migrate-cancel', 'guest']);
    assert.equal(code, 3);
    assert.match(stderr, /Found no migration to cancel for guest/);
  },
};
