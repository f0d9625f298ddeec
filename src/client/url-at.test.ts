import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONFIG_MAPS } from '../api/core/configmap.ts';
import { pathOf } from '../api/resource.ts';
import { isApiError } from '../base/errors.ts';
import { createClient } from './client.ts';
import { urlAt } from './url-at.ts';

const CASES: [server: string, path: string, url: string][] = [
  ['https://gate', '/api/v1?watch=true', 'https://gate/api/v1?watch=true'],
  ['https://gate:6443/', '/api', 'https://gate:6443/api'],
  ['https://gate/k8s/clusters/c-1', '/api/v1/pods?limit=1', 'https://gate/k8s/clusters/c-1/api/v1/pods?limit=1'],
  ['https://gate/k8s/clusters/c-1/', '/api', 'https://gate/k8s/clusters/c-1/api'],
  ['https://gate/k8s', '//elsewhere/api', 'https://gate/k8s//elsewhere/api'],
  ['https://gate', '/api/..a/b..?fieldSelector=metadata.name=..', 'https://gate/api/..a/b..?fieldSelector=metadata.name=..'],
  ['wss://[::1]:1/k8s', '/a%20b', 'wss://[::1]:1/k8s/a%20b'],
];
for (const [server, path, url] of CASES) test(`${path} of ${server} is ${url}`, () => assert.equal(urlAt(server, path).href, url));

const LEADING = [
  '/api/../../../v3',
  '/api/.',
  '/api/..',
  '/api/%2e%2E/v3',
  '/api/.%2e',
  '/api/..?x=1',
  '/api\\..\\v3',
  '/api/.\t./v3',
  '/api/\n.',
];
for (const path of LEADING)
  test(`${JSON.stringify(path)} leads nowhere else`, () => assert.throws(() => urlAt('https://gate/k8s', path), { reason: 'NotFound' }));

test('an object of the name "." or ".." is not there, and asking for it asks for no other', async () => {
  const asked: string[] = [];
  const fetch = async ({ url }: Request) => {
    asked.push(url);
    return Response.json({});
  };
  const client = createClient({ fetch, baseUrl: 'https://gate', userAgent: 'test' });
  for (const name of ['.', '..']) {
    assert.equal(await client.get(CONFIG_MAPS, { namespace: 'default', name }), undefined);
    await client.delete(CONFIG_MAPS, { namespace: 'default', name });
    for (const act of [
      () => client.patch(CONFIG_MAPS, { namespace: 'default', name }, {}),
      () => client.list(CONFIG_MAPS, { namespace: name }),
      () => client.request(pathOf(CONFIG_MAPS, { namespace: 'default', name, subresource: 'status' })),
    ])
      await assert.rejects(act, (error) => isApiError(error, 'NotFound'));
  }
  assert.deepEqual(asked, []);
});
