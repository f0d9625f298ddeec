import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigMap } from '../api/core/configmap.ts';
import { type KubeObject, refOf } from '../api/meta.ts';
import { isApiError, TerminalError } from '../base/errors.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { ScriptedApi } from '../testing/scripted-api.ts';
import { until } from '../testing/until.ts';
import { applyAction } from './apply.ts';
import type { Action } from './decision.ts';

const because = 'the test says so';
const object: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'ns', name: 'a', uid: 'u' } };
const target = refOf(object);
const actions = {
  create: { do: 'create', object, because },
  patch: { do: 'patch', target, patch: { metadata: { labels: { a: 'b' } } }, resourceVersion: '7', because },
  status: { do: 'patch', target: { ...target, uid: undefined }, patch: { status: {} }, subresource: 'status', because },
  delete: { do: 'delete', target, gracePeriodSeconds: 0, because },
  bind: { do: 'bind', pod: { ...target, kind: 'Pod' }, nodeName: 'n1', because },
} satisfies Record<string, Action>;

function apply(action: Action) {
  const api = new ScriptedApi();
  const clock = new FakeClock();
  return { api, clock, applied: applyAction(action, { client: api.client, clock }) };
}

const requests: [Action, string, unknown][] = [
  [actions.create, 'POST /api/v1/namespaces/ns/configmaps', object],
  [actions.patch, 'PATCH /api/v1/namespaces/ns/configmaps/a', { metadata: { labels: { a: 'b' }, uid: 'u', resourceVersion: '7' } }],
  [actions.status, 'PATCH /api/v1/namespaces/ns/configmaps/a/status', { status: {} }],
  [
    actions.delete,
    'DELETE /api/v1/namespaces/ns/configmaps/a',
    { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: 'u' }, gracePeriodSeconds: 0 },
  ],
  [
    actions.bind,
    'POST /api/v1/namespaces/ns/pods/a/binding',
    { apiVersion: 'v1', kind: 'Binding', metadata: { namespace: 'ns', name: 'a', uid: 'u' }, target: { kind: 'Node', name: 'n1' } },
  ],
];

for (const [action, line, body] of requests) {
  test(`${action.do} is ${line}`, async () => {
    const { api, applied } = apply(action);
    const answer: KubeObject = { ...object, metadata: { ...object.metadata, resourceVersion: '8' } };
    assert.deepEqual([await api.answer(answer), api.seen], [body, [line]]);
    assert.equal((await applied).outcome, 'done');
  });
}

const outdated: [string, number, Action][] = [
  ['AlreadyExists', 409, actions.create],
  ['Conflict', 409, actions.patch],
  ['NotFound', 404, actions.patch],
  ['Conflict', 409, actions.bind],
  ['NotFound', 404, actions.bind],
];
for (const [reason, code, action] of outdated) {
  test(`${reason} on ${action.do} means to look again`, async () => {
    const { api, applied } = apply(action);
    await api.refuse(reason, code, 'because of that');
    assert.deepEqual(await applied, { outcome: 'look again', why: 'because of that' });
  });
}

test('a patch for another incarnation, which Kubernetes calls invalid, means to look again', async () => {
  const { api, applied } = apply(actions.patch);
  const details = { causes: [{ field: 'metadata.uid', reason: 'FieldValueInvalid', message: 'field is immutable' }] };
  await api.refuse('Invalid', 422, 'field is immutable', details);
  assert.equal((await applied).outcome, 'look again');
});

test('deleting what is gone is done', async () => {
  const { api, applied } = apply(actions.delete);
  await api.refuse('NotFound', 404);
  assert.equal((await applied).outcome, 'done');
});

test('a create without its namespace is a failure', async () => {
  const { api, applied } = apply(actions.create);
  const failing = assert.rejects(applied, (error) => isApiError(error, 'NotFound'));
  await api.refuse('NotFound', 404);
  await failing;
});

test('a kind that nobody knows is a dead end', async () => {
  const { applied } = apply({ do: 'create', object: { ...object, kind: 'Riddle' }, because });
  await assert.rejects(applied, new TerminalError('Cannot write v1 Riddle: the kind is not known here'));
});

test('a server that never answers is given up after a minute', async () => {
  const { api, clock, applied } = apply(actions.create);
  const failing = assert.rejects(applied);
  await until(() => api.seen.length === 1);
  clock.advance(60_000);
  await failing;
});

test('whoever is told to stop waits for a write two seconds longer, and no timer stays', async () => {
  const [api, clock, stop] = [new ScriptedApi(), new FakeClock(), new AbortController()];
  const applied = applyAction(actions.create, { client: api.client, clock, signal: stop.signal });
  const refused = assert.rejects(applied);
  await until(() => api.seen.length === 1);
  clock.advance(10_000);
  stop.abort();
  clock.advance(2_000);
  await refused;
});
