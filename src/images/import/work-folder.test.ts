import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { withWorkFolder } from './work-folder.ts';

test('what a killed process left goes, what another one works in stays, and our own goes with the work', async (t) => {
  const store = mkdtempSync(join(tmpdir(), 'work-'));
  t.after(() => rmSync(store, { recursive: true }));
  for (const name of ['.import-1-99999999999-abc', 'blobs']) mkdirSync(join(store, name));
  await withWorkFolder(store, async (outer) => {
    await withWorkFolder(store, async (inner) => assert.notEqual(inner, outer));
    assert.ok(existsSync(outer));
  });
  await assert.rejects(
    withWorkFolder(store, async () => Promise.reject(new Error('failed'))),
    /failed/,
  );
  assert.deepEqual(readdirSync(store), ['blobs']);
});
