import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

export const step: Step = {
  after: 'migrate',
  async run({ say, status }) {
    assert.equal(await say('migrate-cancel', 'guest'), 'VM guest was scheduled to migrate-cancel\n');
    await status('Running');
  },
};
