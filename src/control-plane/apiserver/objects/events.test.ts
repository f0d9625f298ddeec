import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../../testing/fake-clock.ts';
import { until } from '../../../testing/until.ts';
import { startTestServer } from '../test-server.testing.ts';

const NEW = '/apis/events.k8s.io/v1/namespaces/default/events';
const CORE = '/api/v1/namespaces/default/events';
const post = (body: object): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
const event = (name: string) => ({
  metadata: { name },
  involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' },
  reason: 'Started',
  message: 'it runs',
  type: 'Normal',
});

test('an event is the same object in both groups, under the names of each', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  const sent = {
    metadata: { name: 'e' },
    eventTime: '2026-01-01T00:00:00.000001Z',
    reportingController: 'test',
    reportingInstance: 'test-1',
    action: 'Start',
    reason: 'Started',
    regarding: { kind: 'Pod', namespace: 'default', name: 'p' },
    note: 'it runs',
    type: 'Normal',
  };
  const created = await fetch(NEW, post(sent));
  assert.equal(created.status, 201, await created.clone().text());
  const core = await (await fetch(`${CORE}/e`)).json();
  assert.deepEqual(
    [core.apiVersion, core.message, core.involvedObject, core.reportingComponent, core.note],
    ['v1', 'it runs', sent.regarding, 'test', undefined],
  );
  const same = await (await fetch(`${NEW}/e`)).json();
  assert.deepEqual([same.apiVersion, same.note, same.metadata.uid], ['events.k8s.io/v1', 'it runs', core.metadata.uid]);
  const selected = await (await fetch(`${NEW}?fieldSelector=regarding.name=p`)).json();
  assert.equal(selected.items.length, 1);
});

test('a core event that is patched through the other group keeps its other fields', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  await fetch(CORE, post(event('e')));
  const patch = { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' }, body: '{"note":"it still runs"}' };
  assert.equal((await fetch(`${NEW}/e`, patch)).status, 200);
  const { message, involvedObject } = await (await fetch(`${CORE}/e`)).json();
  assert.deepEqual([message, involvedObject], ['it still runs', event('e').involvedObject]);
});

test('an event goes an hour after it was last seen', async (t) => {
  const clock = new FakeClock();
  const { fetch, store, close } = await startTestServer({ clock });
  t.after(close);
  await fetch(CORE, post(event('old')));
  clock.advance(59 * 60_000);
  await fetch(CORE, post(event('young')));
  clock.advance(3 * 60_000);
  await until(() => store.list('core/events/').length === 1, 'the old event to go');
  assert.equal(store.get('core/events/default/young')?.key, 'core/events/default/young');
});
