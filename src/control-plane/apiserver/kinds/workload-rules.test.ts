import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '../test-server.testing.ts';

const labels = { app: 'web' };
const spec = { containers: [{ name: 'main', image: 'nothing:1' }] };
const template = { metadata: { labels }, spec };
const selector = { matchLabels: labels };
const once = { metadata: { labels }, spec: { ...spec, restartPolicy: 'Never' } };

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

async function send(
  method: 'POST' | 'PUT',
  plural: string,
  object: object,
): Promise<{ code: number; message: string; object: Record<string, unknown> }> {
  const group = plural === 'jobs' || plural === 'cronjobs' ? 'batch' : 'apps';
  const path = `/apis/${group}/v1/namespaces/default/${plural}${method === 'PUT' ? '/a' : ''}`;
  const answer = await server.fetch(path, { method, body: JSON.stringify(object), headers: { 'content-type': 'application/json' } });
  const body = (await answer.json()) as { message?: string } & Record<string, unknown>;
  return { code: answer.status, message: body.message ?? '', object: body };
}

const refused: [plural: string, spec: object, says: RegExp][] = [
  ['deployments', { template, selector: {} }, /spec\.selector: Invalid value: \{\}: empty selector is invalid for deployment/],
  [
    'deployments',
    { template, selector: { matchLabels: { app: 'other' } } },
    /spec\.template\.metadata\.labels: Invalid value: .*`selector` does not match template `labels`/,
  ],
  ['deployments', { template, selector, replicas: -1 }, /spec\.replicas: Invalid value: -1: must be greater than or equal to 0/],
  ['deployments', { template: once, selector }, /restartPolicy: Unsupported value: "Never": supported values: "Always"/],
  [
    'deployments',
    { template, selector, strategy: { type: 'Recreate', rollingUpdate: {} } },
    /may not be specified when strategy `type` is 'Recreate'/,
  ],
  [
    'deployments',
    { template, selector, strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: '0%' } } },
    /maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0/,
  ],
  [
    'deployments',
    { template, selector, strategy: { rollingUpdate: { maxSurge: 'many' } } },
    /maxSurge: Invalid value: "many": a valid percent string/,
  ],
  ['deployments', { template, selector, progressDeadlineSeconds: 5, minReadySeconds: 5 }, /must be greater than minReadySeconds/],
  ['replicasets', { template, selector: {} }, /empty selector is invalid for replicaset/],
  ['daemonsets', { template, selector: {} }, /empty selector is invalid for daemonset/],
  ['statefulsets', { template, selector: {}, serviceName: 's' }, /empty selector is invalid for statefulset/],
  ['jobs', { template }, /restartPolicy: Unsupported value: "Always": supported values: "OnFailure", "Never"/],
  ['jobs', { template: once, backoffLimit: -1 }, /spec\.backoffLimit: Invalid value: -1/],
  [
    'jobs',
    { template: once, completionMode: 'Indexed', parallelism: 1 },
    /spec\.completions: Required value: when completion mode is Indexed/,
  ],
  [
    'jobs',
    { template: once, podFailurePolicy: { rules: [] } },
    /spec\.podFailurePolicy: Forbidden: the embedded cluster does not have this/,
  ],
  ['cronjobs', { schedule: 'sometimes', jobTemplate: { spec: { template: once } } }, /spec\.schedule: Invalid value: "sometimes"/],
  [
    'cronjobs',
    { schedule: '@daily', timeZone: 'Nowhere/Here', jobTemplate: { spec: { template: once } } },
    /unknown time zone Nowhere\/Here/,
  ],
];

describe('what is refused', () => {
  for (const [plural, wrong, says] of refused) {
    test(`${plural}: ${says.source}`, async () => {
      const { code, message } = await send('POST', plural, { metadata: { name: 'wrong' }, spec: wrong });
      assert.equal(code, 422);
      assert.match(message, says);
    });
  }
});

test('a Job finds its Pods by its own uid, unless somebody knows better', async () => {
  const { object } = await send('POST', 'jobs', { metadata: { name: 'a' }, spec: { template: { spec: once.spec } } });
  const { metadata, spec: made } = object as unknown as {
    metadata: { uid: string; labels: object };
    spec: { selector: object; template: { metadata: object } };
  };
  const added = {
    'batch.kubernetes.io/controller-uid': metadata.uid,
    'batch.kubernetes.io/job-name': 'a',
    'controller-uid': metadata.uid,
    'job-name': 'a',
  };
  assert.deepEqual(
    [made.selector, made.template.metadata, metadata.labels],
    [{ matchLabels: { 'batch.kubernetes.io/controller-uid': metadata.uid } }, { labels: added }, added],
  );
  const manual = await send('POST', 'jobs', { metadata: { name: 'b' }, spec: { template: once, manualSelector: true, selector } });
  assert.deepEqual((manual.object as { spec: { selector: object } }).spec.selector, selector);
  const changed = await send('PUT', 'jobs', { ...object, spec: { ...made, completions: 7 } });
  assert.match(changed.message, /spec\.completions: Invalid value: 7: field is immutable/);
});

test('a StatefulSet changes only in what can change', async () => {
  const set = { metadata: { name: 'a' }, spec: { template, selector, serviceName: 's' } };
  await send('POST', 'statefulsets', set);
  assert.equal((await send('PUT', 'statefulsets', { ...set, spec: { ...set.spec, replicas: 3 } })).code, 200);
  const { code, message } = await send('PUT', 'statefulsets', { ...set, spec: { ...set.spec, serviceName: 'other' } });
  assert.equal(code, 422);
  assert.match(message, /spec: Forbidden: updates to statefulset spec for fields other than 'replicas'/);
});
