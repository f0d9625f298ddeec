import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchesDesired } from './matches-desired.ts';

const desired = { rules: [{ verbs: ['get'] }], spec: { containers: [{ name: 'main', image: 'a' }] }, labels: {} };

test('what the server and others added is not ours', () => {
  const stored = {
    ...desired,
    labels: undefined,
    spec: { containers: [{ name: 'sidecar' }, { name: 'main', image: 'a', terminationMessagePath: '/x' }] },
  };
  assert.ok(matchesDesired(stored, desired));
});

for (const [what, stored] of [
  ['another value', { ...desired, spec: { containers: [{ name: 'main', image: 'b' }] } }],
  ['a field that is gone', { ...desired, spec: { containers: [{ name: 'main' }] } }],
  ['one more rule', { ...desired, rules: [...desired.rules, { verbs: ['*'] }] }],
  ['no rules', { ...desired, rules: undefined }],
] as const)
  test(`${what} is a difference`, () => assert.ok(!matchesDesired(stored, desired)));
