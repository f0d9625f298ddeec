import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pullSources } from './pull-sources.ts';
import { parseRegistries } from './registries-file.ts';

const mirrors = parseRegistries(
  JSON.stringify({
    registries: {
      'docker.io': { mirrors: ['https://m.example.com/hub/', 'http://127.0.0.1:5000'] },
      '*': { mirrors: ['https://all.example.com'] },
    },
  }),
  'registries.json',
).mirrors;
const places = (reference: string, hasHostLoopback = true) =>
  pullSources({ reference, mirrors, findLogins: () => [], hasHostLoopback }).map(({ registry, repository }) => `${registry} ${repository}`);

test('mirrors come first, each with its path, then the registry itself', () => {
  assert.deepEqual(places('nginx'), [
    'https://m.example.com hub/library/nginx',
    'http://127.0.0.1:5000 library/nginx',
    'https://registry-1.docker.io library/nginx',
  ]);
  assert.deepEqual(places('quay.io/a/b:1'), ['https://all.example.com a/b', 'https://quay.io a/b']);
});

test('http is for the loopback, and the loopback of a cluster is not asked', () => {
  assert.deepEqual(places('localhost:5000/x').at(-1), 'http://localhost:5000 x');
  assert.deepEqual(places('nginx', false), ['https://m.example.com hub/library/nginx', 'https://registry-1.docker.io library/nginx']);
  const none = () => pullSources({ reference: '127.0.0.1:5000/x', mirrors: new Map(), findLogins: () => [], hasHostLoopback: false });
  assert.throws(none, { code: 'IMAGE_NOT_PULLED', fix: /virtctl image pull 127\.0\.0\.1:5000\/x:latest/ });
});

test('localhost without a port is no registry', () => assert.throws(() => places('localhost/x'), { code: 'IMAGE_NOT_PULLED' }));

const BAD: [text: string, why: RegExp][] = [
  ['{', /not JSON/],
  ['[]', /not a JSON object/],
  ['{"mirrors":{}}', /it has "mirrors"; known are/],
  ['{"cacheGiB":0}', /above 0/],
  ['{"registries":{"quay.io":["https://m"]}}', /registries\["quay\.io"\] has no list/],
  ['{"registries":{"quay.io":{"mirrors":["m.example.com"]}}}', /no address such as/],
  ['{"registries":{"quay.io":{"mirrors":["http://m.example.com"]}}}', /is not https/],
  ['{"registries":{"quay.io":{"mirrors":["https://me:x@m.example.com"]}}}', /more than a host/],
];
for (const [text, why] of BAD)
  test(`${text} is no registries.json`, () => assert.throws(() => parseRegistries(text, 'f'), { code: 'REGISTRIES_INVALID', why }));
