import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { FakeClock } from '../testing/fake-clock.ts';
import { limitRequests } from './limit-requests.ts';

test('a burst goes out at once, the rest at the rate, and a changed limit holds from the next request on', async () => {
  const clock = new FakeClock();
  let sent = 0;
  const limited = limitRequests(async () => {
    sent += 1;
    return new Response();
  }, clock);
  const ask = (count: number) => Array.from({ length: count }, () => limited.fetch(new Request('http://x/')));
  await Promise.all(ask(50));
  assert.equal(sent, 50, 'nobody is slowed down where nothing is said');

  limited.limit({ qps: 10, burst: 3 });
  const asked = ask(5);
  await setImmediate();
  assert.equal(sent, 53);
  clock.advance(100);
  await setImmediate();
  assert.equal(sent, 54);
  clock.advance(100);
  await Promise.all(asked);
  assert.equal(sent, 55);

  clock.advance(1_000); // the bucket is full again
  await Promise.all(ask(3));
  limited.limit(undefined);
  await Promise.all(ask(10));
  assert.equal(sent, 68);
});
