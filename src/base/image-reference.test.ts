import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isLocalOnly, normaliseReference, repositoryOf } from './image-reference.ts';

const digest = `sha256:${'a'.repeat(64)}`;
const spellings: [string, string][] = [
  ['nginx', 'docker.io/library/nginx:latest'],
  ['nginx:1.2', 'docker.io/library/nginx:1.2'],
  ['kubevirt/cirros', 'docker.io/kubevirt/cirros:latest'],
  ['docker.io/nginx', 'docker.io/library/nginx:latest'],
  ['index.docker.io/library/nginx', 'docker.io/library/nginx:latest'],
  ['quay.io/a/b/c:v1', 'quay.io/a/b/c:v1'],
  ['localhost/guests/tiny', 'localhost/guests/tiny:latest'],
  ['localhost:5000/x', 'localhost:5000/x:latest'],
  ['registry:5000/x:y', 'registry:5000/x:y'],
  ['[fd00::1]:5000/x:y', '[fd00::1]:5000/x:y'],
  [`quay.io/x@sha512:${'b'.repeat(128)}`, `quay.io/x@sha512:${'b'.repeat(128)}`],
  [`nginx@${digest}`, `docker.io/library/nginx@${digest}`],
  [`nginx:1@${digest}`, `docker.io/library/nginx:1@${digest}`],
];
const refused = [
  '',
  'Nginx',
  'a b',
  'nginx:',
  'nginx:a:b',
  'a//b',
  '/a',
  'nginx@sha256:abc',
  `x@${digest}@${digest}`,
  '../x',
  'x\ny',
  'x\n',
  'x:1\n',
  'x\0y',
  'quay.io/../x',
  'quay.io/a/./b',
  'quay.io/a b',
  '\u001b[2Jx',
  'x:\u202ey',
  'a'.repeat(600),
];

describe('normaliseReference', () => {
  for (const [written, stored] of spellings) {
    test(`${written} means ${stored}`, () => {
      assert.equal(normaliseReference(written), stored);
      assert.equal(normaliseReference(stored), stored);
    });
  }
  for (const text of refused) {
    test(`${JSON.stringify(text.slice(0, 30))} is no reference`, () =>
      assert.throws(() => normaliseReference(text), { reason: 'Invalid' }));
  }
});

test('localhost is a place without a registry, localhost:5000 is one', () => {
  assert.deepEqual(['localhost/x', 'localhost:5000/x', 'x', 'localhost.example/x'].map(isLocalOnly), [true, false, false, false]);
});

test('a repository has neither tag nor digest', () => assert.equal(repositoryOf(`nginx:1@${digest}`), 'docker.io/library/nginx'));
