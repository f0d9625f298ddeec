import assert from 'node:assert/strict';
import { until } from '../../../../testing/until.ts';
import type { Step, World } from '../../../step.testing.ts';

export const step: Step = {
  after: 'node start',
  async run(world) {
    const node = await world.cluster.field('vmi', 'guest', '.status.nodeName');
    const uid = await uidOf(world);
    await world.say('node', 'kill', node);
    assert.match(await world.say('node', 'ls'), /^\S+ +Ready \(killed\)/m);
    await world.say('node', 'start', node);
    await until(async () => ![uid, ''].includes(await uidOf(world)), 'another instance');
    await world.status('Running');
  },
};

async function uidOf({ cluster }: World): Promise<string> {
  return cluster.field('vmi', 'guest', '.metadata.uid').catch(() => ''); // for a moment there is none
}
