import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { isObject } from '../../../base/json.ts';
import type { WebhookPost } from '../admission/webhook.ts';
import { startTestServer, type TestServer } from '../test-server.testing.ts';
import type { AnyObject } from '../types/resource-type.ts';

const ROOT = '/apis/example.com';
const V1 = `${ROOT}/v1/namespaces/default/clocks`;
const V2 = `${ROOT}/v2/namespaces/default/clocks`;
const CRD = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

function version(name: string, fields: readonly string[]) {
  const spec = { type: 'object', properties: Object.fromEntries(fields.map((field) => [field, { type: 'string' }])) };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  return {
    name,
    served: true,
    storage: name === 'v2',
    schema,
    additionalPrinterColumns: [{ name: fields[0], type: 'string', jsonPath: `.spec.${fields[0]}` }],
  };
}

/** v1 says `time: 10:30`, v2 `hour: 10, minute: 30`. */
function crd(webhook: object = { clientConfig: { url: 'https://clocks.test/convert' }, conversionReviewVersions: ['v1'] }) {
  const names = { plural: 'clocks', kind: 'Clock' };
  const versions = [version('v1', ['time']), version('v2', ['hour', 'minute'])];
  const spec = { group: 'example.com', scope: 'Namespaced', names, versions, conversion: { strategy: 'Webhook', webhook } };
  return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'clocks.example.com' }, spec };
}

type Request = { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: readonly AnyObject[] };
type Clock = AnyObject & { readonly spec: { readonly time?: string; readonly hour?: string; readonly minute?: string } };

function converted({ objects, desiredAPIVersion }: Request): AnyObject[] {
  return objects.map((object) => {
    const { spec } = object as Clock;
    const [hour = '', minute = ''] = spec.time?.split(':') ?? [];
    const other = desiredAPIVersion === 'example.com/v1' ? { time: `${spec.hour}:${spec.minute}` } : { hour, minute };
    return { ...object, apiVersion: desiredAPIVersion, spec: other };
  });
}

describe('conversion webhooks', () => {
  let server: TestServer;
  let asked: Request[];
  let answer: (request: Request) => object;

  beforeEach(async () => {
    asked = [];
    answer = (request) => ({ convertedObjects: converted(request), result: { status: 'Success' } });
    const askWebhook = async ({ body }: WebhookPost) => {
      const { request } = body as { request: Request };
      asked.push(request);
      return { kind: 'ConversionReview', apiVersion: 'apiextensions.k8s.io/v1', response: { uid: request.uid, ...answer(request) } };
    };
    server = await startTestServer({ hooks: { askWebhook } });
    assert.equal((await send('POST', CRD, crd())).status, 201);
  });
  afterEach(() => server.close());

  async function send(method: string, path: string, body?: object, accept = 'application/json') {
    const headers = { accept, 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' };
    const response = await server.fetch(path, { method, headers, body: body && JSON.stringify(body) });
    return { status: response.status, body: await response.json() };
  }
  const clock = (apiVersion: string, name: string, spec: object) => ({ apiVersion, kind: 'Clock', metadata: { name }, spec });
  const stored = (name: string) => server.store.get(`example.com/clocks/default/${name}`)?.value;

  test('what is written in another version is stored in the stored one, and answered as it was written', async () => {
    const { status, body } = await send('POST', V1, clock('example.com/v1', 'a', { time: '10:30' }));
    assert.deepEqual([status, body.apiVersion, body.spec], [201, 'example.com/v1', { time: '10:30' }]);
    assert.deepEqual([stored('a')?.['apiVersion'], stored('a')?.['spec']], ['example.com/v2', { hour: '10', minute: '30' }]);
  });

  test('get, list, tables and watches show the version that they ask for; the webhook is asked once', async () => {
    await send('POST', V2, clock('example.com/v2', 'a', { hour: '10', minute: '30' }));
    assert.equal(asked.length, 0, 'the stored version needs no conversion');
    assert.deepEqual((await send('GET', `${V1}/a`)).body.spec, { time: '10:30' });
    const { items } = (await send('GET', V1)).body;
    assert.deepEqual(
      items.map(({ apiVersion, spec }: Clock) => [apiVersion, spec]),
      [['example.com/v1', { time: '10:30' }]],
    );
    const table = await send('GET', V1, undefined, 'application/json;as=Table;v=v1;g=meta.k8s.io');
    assert.deepEqual(table.body.rows[0].cells, ['a', '10:30']);
    const watch = await server.fetch(`${V1}?watch=1&resourceVersion=0`);
    const reader = watch.body?.getReader();
    const next = async () => JSON.parse(new TextDecoder().decode((await reader?.read())?.value));
    assert.deepEqual((await next()).object.spec, { time: '10:30' });
    assert.equal(asked.length, 1);
    await send('PATCH', `${V2}/a`, { spec: { hour: '11' } });
    const { type, object } = await next();
    assert.deepEqual([type, object.apiVersion, object.spec], ['MODIFIED', 'example.com/v1', { time: '11:30' }]);
    await send('DELETE', `${V2}/a`);
    const gone = await next();
    assert.deepEqual([gone.type, gone.object.spec], ['DELETED', { time: '11:30' }]);
    await reader?.cancel();
  });

  test('a change in another version goes there and back', async () => {
    await send('POST', V2, clock('example.com/v2', 'a', { hour: '10', minute: '30' }));
    const patched = await send('PATCH', `${V1}/a`, { spec: { time: '12:00' } });
    assert.deepEqual([patched.status, patched.body.spec, patched.body.metadata.generation], [200, { time: '12:00' }, 2]);
    assert.deepEqual(stored('a')?.['spec'], { hour: '12', minute: '00' });
    const same = await send('PATCH', `${V1}/a`, { spec: { time: '12:00' } });
    assert.equal(same.body.metadata.resourceVersion, patched.body.metadata.resourceVersion);
  });

  test('a list of thousands is converted in parts', async () => {
    await Promise.all(
      Array.from({ length: 1_200 }, (_, index) => send('POST', V2, clock('example.com/v2', `c${index}`, { hour: '1', minute: '2' }))),
    );
    const { body } = await send('GET', V1);
    assert.deepEqual([body.items.length, asked.map(({ objects }) => objects.length)], [1_200, [500, 500, 200]]);
  });

  test('a selected list asks only for what is selected', async () => {
    await send('POST', V2, { ...clock('example.com/v2', 'a', { hour: '1', minute: '2' }), metadata: { name: 'a', labels: { x: 'y' } } });
    await send('POST', V2, clock('example.com/v2', 'b', { hour: '1', minute: '2' }));
    const { body } = await send('GET', `${V1}?labelSelector=x%3Dy`);
    assert.deepEqual([body.items.length, body.items[0].spec, asked[0]?.objects.length], [1, { time: '1:2' }, 1]);
  });

  test('metadata stays as it is but for labels and annotations', async () => {
    await send('POST', V2, clock('example.com/v2', 'a', { hour: '10', minute: '30' }));
    answer = (request) => {
      const convertedObjects = converted(request).map((object) => ({
        ...object,
        metadata: { ...object.metadata, generation: 99, finalizers: ['x'], labels: { from: 'v2' } },
      }));
      return { convertedObjects, result: { status: 'Success' } };
    };
    const { metadata } = (await send('GET', `${V1}/a`)).body;
    assert.deepEqual([metadata.generation, metadata.finalizers, metadata.labels], [1, undefined, { from: 'v2' }]);
  });

  const BAD: readonly [name: string, answer: (request: Request) => object, why: RegExp][] = [
    ['a failure', () => ({ result: { status: 'Failure', message: 'no clue' } }), /failed: no clue$/],
    ['too few objects', () => ({ convertedObjects: [], result: { status: 'Success' } }), /returned 0 objects, expected 1$/],
    ['another uid', () => ({ uid: 'x', convertedObjects: [], result: { status: 'Success' } }), /expected response\.uid=/],
    [
      'the wrong version',
      ({ objects }) => ({ convertedObjects: objects, result: { status: 'Success' } }),
      /expected example\.com\/v1, got example\.com\/v2$/,
    ],
    [
      'another object',
      (request) => ({
        convertedObjects: converted(request).map((each) => ({ ...each, metadata: { ...each.metadata, name: 'b' } })),
        result: { status: 'Success' },
      }),
      /metadata\.name must not change$/,
    ],
    ['no object', () => ({ convertedObjects: [7], result: { status: 'Success' } }), /not an object$/],
  ];
  for (const [name, bad, why] of BAD) {
    test(`${name} as the answer is an error of the server, and other versions go on`, async () => {
      await send('POST', V2, clock('example.com/v2', 'a', { hour: '10', minute: '30' }));
      answer = bad;
      for (const [method, path] of [
        ['GET', `${V1}/a`],
        ['GET', V1],
        ['PATCH', `${V1}/a`],
      ] as const) {
        const { status, body } = await send(method, path, method === 'PATCH' ? { spec: { time: '1:1' } } : undefined);
        assert.equal(status, 500, path);
        assert.match(body.message, /^conversion webhook for example\.com\/v2, Kind=Clock failed: /);
        assert.match(body.message, why);
      }
      assert.equal((await send('GET', `${V2}/a`)).status, 200);
      assert.equal((await send('DELETE', `${V2}/a`)).status, 200);
    });
  }

  test('a watch ends with an error when its webhook fails', async () => {
    await send('POST', V2, clock('example.com/v2', 'a', { hour: '10', minute: '30' }));
    answer = () => ({ result: { status: 'Failure', message: 'no clue' } });
    const lines = (await (await server.fetch(`${V1}?watch=1`)).text()).trim().split('\n');
    const events = lines.map((line) => JSON.parse(line));
    assert.deepEqual(
      events.map(({ type, object }) => [type, isObject(object) && object['code']]),
      [['ERROR', 500]],
    );
  });

  for (const [name, webhook, field] of [
    ['without a place', { conversionReviewVersions: ['v1'] }, 'spec.conversion.webhook.clientConfig'],
    [
      'over plain HTTP',
      { clientConfig: { url: 'http://x' }, conversionReviewVersions: ['v1'] },
      'spec.conversion.webhook.clientConfig.url',
    ],
    [
      'of an old protocol',
      { clientConfig: { url: 'https://x' }, conversionReviewVersions: ['v1beta1'] },
      'spec.conversion.webhook.conversionReviewVersions',
    ],
  ] as const) {
    test(`a webhook ${name} is refused with its definition`, async () => {
      const { status, body } = await send('PATCH', `${CRD}/clocks.example.com`, {
        spec: { conversion: { webhook: { clientConfig: null, ...webhook } } },
      });
      assert.deepEqual([status, body.details.causes[0].field], [422, field]);
    });
  }
});
