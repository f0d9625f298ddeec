import assert from 'node:assert/strict';
import type { Step } from '../../step.testing.ts';

export const step: Step = {
  after: 'exec',
  async run(world) {
    const { code, stdout, stderr } = await world.cluster.virtctl(['shell', '--', 'sh', '-c', 'id -un; echo aside >&2; exit 7']);
    assert.deepEqual([code, stdout, stderr], [7, 'root\n', 'aside\n']); // the only machine that runs, by its agent
  },
};
