import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { keptKey } from './kept-key.ts';

test('a key is made once and kept, for its owner alone; what is no whole key is replaced', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'key-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'page-sessions.key');
  const key = keptKey(path);
  assert.match(key, /^[\w-]{43}$/);
  assert.equal(keptKey(path), key);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  for (const damage of ['', key.slice(0, 20), '\0'.repeat(43)]) {
    writeFileSync(path, damage);
    const next = keptKey(path);
    assert.match(next, /^[\w-]{43}$/);
    assert.notEqual(next, key);
    assert.equal(readFileSync(path, 'utf8'), next);
  }
});
