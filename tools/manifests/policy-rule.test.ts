import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeRules, rule } from './policy-rule.ts';

test('rules that say the same for the same reason are one', () => {
  const rules = [rule('a', 'x', ['get'], 'why'), rule('a', 'y', ['get']), rule('a', 'z', ['get'], 'why'), rule('b', 'z', ['get'], 'why')];
  assert.deepEqual(mergeRules(rules), [
    { because: 'why', apiGroups: ['a'], resources: ['x', 'z'], verbs: ['get'] },
    { apiGroups: ['a'], resources: ['y'], verbs: ['get'] },
    { because: 'why', apiGroups: ['b'], resources: ['z'], verbs: ['get'] },
  ]);
});
