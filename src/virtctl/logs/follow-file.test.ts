import assert from 'node:assert/strict';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../base/clock.ts';
import { fileLines } from './follow-file.ts';

async function file(t: TestContext, content: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'kubevirt-ts-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'log');
  await writeFile(path, content);
  return path;
}

test('a file is read to its end, the line without an end included', async (t) => {
  const lines = await Array.fromAsync(fileLines({ path: await file(t, 'a\nb\nc'), isFollowed: false, clock: systemClock }));
  assert.deepEqual(lines.flat(), ['a', 'b', 'c']);
});

test('what is added to a followed file appears, and what replaces it', async (t) => {
  const path = await file(t, 'first line\n');
  const { signal } = new AbortController();
  const seen: string[] = [];
  for await (const lines of fileLines({ path, isFollowed: true, clock: systemClock, signal })) {
    seen.push(...lines);
    if (seen.length === 1) await appendFile(path, 'second\n');
    if (seen.length === 2) await writeFile(path, 'new\n');
    if (seen.length === 3) break;
  }
  assert.deepEqual(seen, ['first line', 'second', 'new']);
});
