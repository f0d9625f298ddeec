import assert from 'node:assert/strict';
import type { Step } from '../../../step.testing.ts';

export const step: Step = {
  after: 'node ls',
  async run(world) {
    const node = await world.cluster.field('vmi', 'guest', '.status.nodeName');
    await world.say('node', 'stop', node);
    assert.match(await world.say('node', 'ls'), /^\S+ +Ready \(stopped\)/m);
    const refused = await world.cluster.virtctl(['exec', 'guest', '--', 'true']);
    assert.match(refused.stderr, /Cannot reach the virt-handler of node/);
  },
};
