import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { LastConnections } from './last-connections.ts';

const at = (subresource: string, name: string) =>
  ({ resource: 'virtualmachineinstances', verb: 'get', namespace: 'default', subresource, name }) as const;

test('the last time that somebody entered an instance is shown, whichever way; a picture of its screen is no entering', () => {
  const clock = new FakeClock();
  const connections = new LastConnections(clock);
  const seconds = clock.now() / 1000;
  connections.observe(at('console', 'db'));
  connections.observe(at('vnc/screenshot', 'other'));
  clock.advance(5_000);
  connections.observe(at('portforward', 'db'));
  assert.deepEqual(connections.samples(), [{ labels: { namespace: 'default', vmi: 'db' }, value: seconds + 5 }]);
});

test('ten thousand are remembered, and those that were entered last', () => {
  const connections = new LastConnections(new FakeClock());
  for (let index = 0; index < 10_002; index++) connections.observe(at('vnc', `vm-${index}`));
  const shown = connections.samples();
  assert.deepEqual([shown.length, shown[0]?.labels?.['vmi']], [10_000, 'vm-2']);
});
