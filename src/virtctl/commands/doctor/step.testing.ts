import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

export const step: Step = {
  after: 'version',
  async run(world) {
    const { ok, checks } = JSON.parse(await world.say('doctor', '--json'));
    assert.deepEqual([ok, checks.find(({ name }: { name: string }) => name === 'api')?.status], [true, 'ok']);
  },
};
