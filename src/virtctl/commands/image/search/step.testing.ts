import assert from 'node:assert/strict';
import type { Step } from '../../../step.testing.ts';

export const step: Step = {
  after: 'image list',
  async run(world) {
    assert.match(
      await world.say('image', 'search', 'debian'),
      /^NAME .* DESCRIPTION\n(.*\n)*debian:12 .*amd64, arm64 +Debian 12 \(bookworm\)\n/,
    );
  },
};
