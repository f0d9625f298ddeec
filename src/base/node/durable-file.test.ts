import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { removeUnfinishedWrites, writeFileDurably, writeFileDurablySync } from './durable-file.ts';

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), 'durable-'));
  t.after(() => rmSync(made, { recursive: true }));
  return made;
}

test('a write that fails leaves nothing behind, however often it is tried', async (t) => {
  const home = folder(t);
  mkdirSync(join(home, 'file')); // in its place, so that the last step fails
  for (let tries = 0; tries < 3; tries += 1) {
    assert.throws(() => writeFileDurablySync(join(home, 'file'), 'text'), { code: 'EISDIR' });
    await assert.rejects(writeFileDurably(join(home, 'file'), 'text'), { code: 'EISDIR' });
  }
  assert.deepEqual(readdirSync(home), ['file']);
});

test('what a killed writer left goes, and nothing else', (t) => {
  const home = folder(t);
  for (const name of [`store.json.${randomUUID()}.tmp`, 'store.json', 'mine.tmp', `${randomUUID()}`]) writeFileSync(join(home, name), '');
  const kept = readdirSync(home).filter((name) => !/^store\.json\..*tmp$/.test(name));
  removeUnfinishedWrites(home);
  assert.deepEqual(readdirSync(home), kept);
});
