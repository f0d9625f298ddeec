import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saysTheSame } from './says-the-same.ts';

const wanted = { rules: [{ verbs: ['get'] }], spec: { containers: [{ name: 'main', image: 'a' }] }, labels: {} };

test('what the server and others added is not ours', () => {
  const stored = {
    ...wanted,
    labels: undefined,
    spec: { containers: [{ name: 'sidecar' }, { name: 'main', image: 'a', terminationMessagePath: '/x' }] },
  };
  assert.ok(saysTheSame(stored, wanted));
});

for (const [what, stored] of [
  ['another value', { ...wanted, spec: { containers: [{ name: 'main', image: 'b' }] } }],
  ['a field that is gone', { ...wanted, spec: { containers: [{ name: 'main' }] } }],
  ['one more rule', { ...wanted, rules: [...wanted.rules, { verbs: ['*'] }] }],
  ['no rules', { ...wanted, rules: undefined }],
] as const)
  test(`${what} is a difference`, () => assert.ok(!saysTheSame(stored, wanted)));
