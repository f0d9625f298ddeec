import assert from 'node:assert/strict';
import { closeSync, ftruncateSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { largestFileBytes } from './largest-file.ts';

test('a file can be as large as is said, and nothing is left of the trial', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'largest-file-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const bytes = largestFileBytes(folder) ?? 0;
  assert.ok(bytes >= 2 ** 40, String(bytes));
  assert.deepEqual(readdirSync(folder), []);
  const file = openSync(join(folder, 'x'), 'w');
  ftruncateSync(file, bytes);
  if (bytes < 2 ** 52) assert.throws(() => ftruncateSync(file, bytes + 2 ** 20), { code: 'EFBIG' });
  closeSync(file);
});

test('of a folder that is not there nobody can tell', () => assert.equal(largestFileBytes('/nonexistent/volumes'), undefined));
