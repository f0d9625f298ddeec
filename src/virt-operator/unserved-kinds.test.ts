import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { NEWER_KINDS } from '../api/kubevirt/installed-kinds-table.ts';
import { silentLogger } from '../base/log.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { ScriptedApi } from '../testing/scripted-api.ts';
import { until } from '../testing/until.ts';
import { unservedKinds } from './unserved-kinds.ts';

function ask(t: TestContext) {
  const [api, clock, stop] = [new ScriptedApi(), new FakeClock(), new AbortController()];
  t.after(() => stop.abort());
  const missing = unservedKinds({ client: api.client, clock, log: silentLogger, signal: stop.signal }, 'a=b');
  /** Lets time pass until so many requests have come. */
  const requests = (count: number) =>
    until(() => {
      clock.advance(2_000);
      return api.seen.length === count;
    }, `${count} requests`);
  return { api, missing, requests };
}

test('what is served is not missing', async (t) => {
  const { api, missing } = ask(t);
  for (const _ of NEWER_KINDS) await api.list([], '1');
  assert.deepEqual(await missing, []);
});

test('an older cluster does not know them', async (t) => {
  const { api, missing } = ask(t);
  for (const _ of NEWER_KINDS) await api.refuse('NotFound', 404);
  assert.deepEqual(await missing, NEWER_KINDS);
});

test('a server that cannot be reached is asked again', async (t) => {
  const { api, missing, requests } = ask(t);
  for (const _ of NEWER_KINDS) await api.breakConnection();
  await requests(2 * NEWER_KINDS.length);
  for (const _ of NEWER_KINDS) await api.list([], '1');
  assert.deepEqual(await missing, []);
});

test('roles of an older release refuse; they are waited for a while, and then done without', async (t) => {
  const { api, missing, requests } = ask(t);
  const served = NEWER_KINDS.slice(0, -1);
  for (const _ of served) await api.list([], '1');
  for (let refusals = 1; refusals <= 5; refusals++) {
    await requests(refusals + served.length);
    await api.refuse('Forbidden', 403);
  }
  assert.deepEqual(await missing, NEWER_KINDS.slice(-1));
});
