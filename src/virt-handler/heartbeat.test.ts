import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../base/log.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { ScriptedApi } from '../testing/scripted-api.ts';
import { quiet } from '../testing/until.ts';
import { runHeartbeat } from './heartbeat.ts';

test('beats at once, again soon after a failure, and then every minute and a bit', async () => {
  const api = new ScriptedApi();
  const clock = new FakeClock();
  const abort = new AbortController();
  const options = { client: api.client, nodeName: 'n1', clock, log: silentLogger, signal: abort.signal, random: () => 0.5 };
  const stopped = runHeartbeat(options);
  await api.refuse('ServiceUnavailable', 503);
  await quiet();
  clock.advance(1_000);
  assert.deepEqual(await api.answer({}), {
    metadata: { labels: { 'kubevirt.io/schedulable': 'true' }, annotations: { 'kubevirt.io/heartbeat': '2026-01-01T00:00:01Z' } },
  });
  await quiet();
  clock.advance(74_000);
  await quiet();
  assert.equal(api.seen.length, 2);
  clock.advance(1_000);
  await api.answer({});
  assert.deepEqual(new Set(api.seen), new Set(['PATCH /api/v1/nodes/n1']));
  abort.abort();
  await stopped;
});
