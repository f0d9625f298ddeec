import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../api/core/pod.ts';
import { environmentOf, expandVariables, fieldOf } from './environment.ts';

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'ns', uid: 'u', labels: { a: '1', 'x/y': '2' } },
  spec: { nodeName: 'n1', containers: [] },
};
const source = { pod, podIP: '10.244.0.2', hostIP: '127.0.0.1' };

describe('references', () => {
  const cases: [string, string][] = [
    ['plain', 'plain'],
    ['$(A)', 'one'],
    ['a-$(A)-$(A)', 'a-one-one'],
    ['$(MISSING)', '$(MISSING)'],
    ['$$(A)', '$(A)'],
    ['$$$(A)', '$one'],
    ['$A', '$A'],
    ['$(A', '$(A'],
    ['$(constructor)', '$(constructor)'],
  ];
  for (const [text, expected] of cases) test(`${text} is ${expected}`, () => assert.equal(expandVariables(text, { A: 'one' }), expected));
});

test('a variable sees those before it', () => {
  const env = [
    { name: 'B', value: '$(A)' },
    { name: 'A', value: 'x' },
    { name: 'C', value: '$(A)$(BASE)' },
  ];
  assert.deepEqual(environmentOf({ name: 'c', env }, source, { BASE: 'base' }), { BASE: 'base', B: '$(A)', A: 'x', C: 'xbase' });
});

test('what cannot be a variable is refused', () => {
  for (const variable of [{ name: 'a=b' }, { name: '' }, { name: 'a\0' }, { name: 'a', value: 'x\0y' }, { name: 'a', valueFrom: {} }]) {
    assert.throws(() => environmentOf({ name: 'c', env: [variable] }, source, {}), { reason: 'Invalid' });
  }
});

describe('fields', () => {
  const cases: [string, string][] = [
    ['metadata.name', 'p'],
    ['metadata.namespace', 'ns'],
    ['metadata.uid', 'u'],
    ["metadata.labels['x/y']", '2'],
    ["metadata.labels['none']", ''],
    ['metadata.labels', 'a="1"\nx/y="2"'],
    ['spec.nodeName', 'n1'],
    ['status.podIP', '10.244.0.2'],
    ['status.hostIP', '127.0.0.1'],
  ];
  for (const [path, expected] of cases)
    test(`fieldRef ${path} is ${JSON.stringify(expected)}`, () => assert.equal(fieldOf(path, source), expected));
  test('an unknown fieldRef is refused', () => assert.throws(() => fieldOf('toString', source), { reason: 'Invalid' }));
});
