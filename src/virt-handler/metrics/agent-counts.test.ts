import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vmi } from '../../testing/builders.ts';
import { until } from '../../testing/until.ts';
import type { Guest } from '../vmi/domains.ts';
import { AgentCounts } from './agent-counts.ts';

const mounted = (mountpoint: unknown, used: unknown = 1) => ({
  name: 'vda1',
  mountpoint,
  type: 'ext4',
  'used-bytes': used,
  'total-bytes': 100,
});

function guestThatSays(fileSystems: unknown) {
  const asked: string[] = [];
  const ask = async ({ command }: { command: string }) => {
    asked.push(command);
    return command === 'guest-get-fsinfo' ? fileSystems : [];
  };
  const guest = { vmi: vmi('Running'), agent: { facts: { state: 'connected' }, ask } } as unknown as Pick<Guest, 'vmi' | 'agent'>; // no more is asked of it
  return { guest, asked };
}

/** What is told once the agent has answered. */
async function told(counts: AgentCounts, guest: Pick<Guest, 'vmi' | 'agent'>) {
  counts.latest(guest, 0);
  await until(() => counts.latest(guest, 1).fileSystems.length > 0, 'an answer');
  return counts.latest(guest, 1).fileSystems;
}

test('file systems are asked for once a minute, cards each time', async () => {
  const { guest, asked } = guestThatSays([mounted('/')]);
  const counts = new AgentCounts();
  assert.deepEqual(await told(counts, guest), [
    { diskName: 'vda1', mountPoint: '/', fileSystemType: 'ext4', usedBytes: 1, totalBytes: 100 },
  ]);
  const times = () => asked.filter((command) => command === 'guest-get-fsinfo').length;
  assert.equal(times(), 1);
  await until(() => counts.latest(guest, 60_001) && times() === 2, 'the second question');
  assert.ok(asked.length > 3);
});

test('a hostile guest makes twenty series, each once, and none that cannot be written', async () => {
  const many = Array.from({ length: 1000 }, (_, index) => mounted(`/${'x'.repeat(300)}${index}`));
  const { guest } = guestThatSays([mounted('/'), mounted('/', 7), mounted('/\u001b[2J\n'), ...many, mounted({}), 'nothing']);
  const systems = await told(new AgentCounts(), guest);
  assert.deepEqual(
    systems.map(({ mountPoint, usedBytes }) => [mountPoint.slice(0, 6), usedBytes]),
    [
      ['/', 1],
      ['/?[2J?', 1],
      ['/xxxxx', 1],
    ],
  );
  const others = guestThatSays(Array.from({ length: 1000 }, (_, index) => mounted(`/${index}`)));
  assert.equal((await told(new AgentCounts(), others.guest)).length, 20);
});
