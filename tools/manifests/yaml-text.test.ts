import assert from 'node:assert/strict';
import { test } from 'node:test';
import { yamlText } from './yaml-text.ts';

test('a reason becomes the comment above what it stands in, and short lists stay in their line', () => {
  const rules = [{ because: 'It looks.', verbs: ['get', 'list'] }, { verbs: ['delete'] }];
  const text = yamlText('What may be done.', [
    { because: 'For one.', kind: 'Role', rules },
    { kind: 'Other', names: ['', 'a'.repeat(120)] },
  ]);
  assert.deepEqual(text.split('\n').slice(1), [
    '# What may be done.',
    '# For one.',
    'kind: Role',
    'rules:',
    '  # It looks.',
    '  - verbs: [get, list]',
    '  - verbs: [delete]',
    '---',
    'kind: Other',
    'names:',
    '  - ""',
    `  - ${'a'.repeat(120)}`,
    '',
  ]);
});
