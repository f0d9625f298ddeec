import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findAll, parseJsonPath } from './json-path.ts';

const object = {
  metadata: { annotations: { 'a.b/c': 'x' } },
  spec: {
    list: [
      { name: 'a', on: true },
      { name: 'b', on: false },
    ],
    'odd key': 1,
  },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', inner: { n: 1 } },
      { type: 'Live', status: 'False' },
    ],
  },
};
const found = (path: string) => findAll(parseJsonPath(path) ?? assert.fail(`cannot parse ${path}`), object);

const PATHS: readonly (readonly [string, readonly unknown[]])[] = [
  ['.spec.list[0].name', ['a']],
  ['.spec.list[-1].name', ['b']],
  ['.spec.list[*].name', ['a', 'b']],
  ['.spec.list[7].name', []],
  ['.status.conditions[?(@.type=="Ready")].status', ['True']],
  [".status.conditions[?(@.type=='Live')].status", ['False']],
  ['.status.conditions[?(@.type!="Ready")].type', ['Live']],
  ['.status.conditions[?(@.inner)].type', ['Ready']],
  ['.status.conditions[?(@.inner.n==1)].type', ['Ready']],
  ['.spec.list[?(@.on==true)].name', ['a']],
  ['.metadata.annotations.a\\.b/c', ['x']],
  [".metadata.annotations['a.b/c']", ['x']],
  ['.metadata.annotations["a.b/c"]', ['x']],
  ["$.spec['odd key']", [1]],
  ['{.spec.list[1].name}', ['b']],
  ['.metadata.annotations.*', ['x']],
  ['.missing.deep', []],
  ['.constructor', []],
];

for (const [path, values] of PATHS) test(`${path} finds ${JSON.stringify(values)}`, () => assert.deepEqual(found(path), values));

test('what is no path is not parsed', () => {
  for (const text of ['spec', '.spec[', '.spec[a]', '.spec..x', '.a[?(process.exit())]'])
    assert.equal(parseJsonPath(text), undefined, text);
});

test('a path that could be read in many ways is read once', () => {
  const { user } = process.cpuUsage();
  for (const text of [`[?(@${'\\a'.repeat(40)}!`, `[?(@${'\\a'.repeat(20_000)}`, `['${'\\a'.repeat(20_000)}`, `.${'\\a'.repeat(20_000)}"`])
    assert.equal(parseJsonPath(text), undefined);
  assert.ok(process.cpuUsage().user - user < 500_000);
});
