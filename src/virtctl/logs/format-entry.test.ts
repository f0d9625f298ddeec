import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatEntry } from './format-entry.ts';

const entry = JSON.stringify({
  time: '2026-01-01T10:00:00.123Z',
  level: 'info',
  message: 'created',
  object: 'Pod default/db',
  because: 'asked',
  port: 80,
});
const failure = JSON.stringify({ time: '2026-01-01T10:00:00.123Z', level: 'error', message: 'no', error: 'x', stack: 'Error: x\n  at y' });

test('an entry is one line with its fields', () => {
  assert.equal(formatEntry(entry, 'info'), '2026-01-01 10:00:00 info  created object="Pod default/db" because=asked port=80');
});

test('an entry below the level is left out', () => {
  assert.equal(formatEntry(entry, 'warn'), undefined);
});

test('a stack is shown only to who debugs', () => {
  assert.equal(formatEntry(failure, 'info'), '2026-01-01 10:00:00 error no error=x');
  assert.equal(formatEntry(failure, 'debug'), '2026-01-01 10:00:00 error no error=x\n    Error: x\n      at y');
});

for (const other of ['Segmentation fault', '{"a":1}', '[]', '']) {
  test(`${JSON.stringify(other)}, which is no entry, stays as it is`, () => assert.equal(formatEntry(other, 'info'), other));
}
