import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldLine } from './fold-line.ts';

test('a long line is continued under its text, and no line is wider than the terminal', () => {
  const line = `  ! network   ${'word '.repeat(30).trim()}`;
  const lines = foldLine(line, { columns: 40, indent: 14 }).split('\n');
  assert.ok(lines.length > 1 && lines.every((each) => each.length <= 40), lines.join('\n'));
  assert.ok(lines.slice(1).every((each) => each.startsWith(`${' '.repeat(14)}word`)));
  assert.equal(lines.map((each) => each.slice(14)).join(' '), line.slice(14));
});

test('what fits, what has no known width, and one long word are left as they are', () => {
  const path = `  ✓ data      /${'x'.repeat(100)}`;
  assert.equal(foldLine('short', { columns: 80, indent: 2 }), 'short');
  assert.equal(foldLine(path, { columns: undefined, indent: 14 }), path);
  assert.equal(foldLine(path, { columns: 0, indent: 14 }), path);
  assert.equal(foldLine(path, { columns: 80, indent: 14 }), path);
});
