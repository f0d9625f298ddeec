import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { replay } from './replay.ts';

/** Replays a transcript whose commands need no cluster. */
async function session(t: TestContext, ...lines: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'replay-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'x.txt'), lines.join('\n'));
  await replay(join(folder, 'x.txt'), { kubeconfig: join(folder, 'kubeconfig'), path: process.env['PATH'] ?? '' });
}

test('a session has its files, both streams, and the names it gave', async (t) => {
  await session(t, '=== a.yaml', 'name: b', '===', '$ cat a.yaml; echo no >&2', 'name: <any:n>', 'no', '$ echo "<$n>"', '<b>');
});

test('a command that prints something else ends the session, with both beside each other', async (t) => {
  await assert.rejects(session(t, '$ echo b; echo c', 'a', 'c', '$ exit 1'), {
    message: 'x.txt:1: not what the transcript says\n$ echo b; echo c\n  - a\n  + b\n    c\n  (- expected, + printed, . skipped)',
  });
});

test('an exit code that was not expected ends the session', async (t) => {
  await session(t, '$ exit 3', '(exit 3)');
  await assert.rejects(session(t, '$ false'), /it left with 1, not with 0/);
  await assert.rejects(session(t, '$ true', '(exit 1)'), /it left with 0, not with 1/);
});

test('a command with a bound is repeated until it prints what it has to', async (t) => {
  await session(t, '(within 60s)', '$ echo >> tries; grep -c "" tries', '3');
  await assert.rejects(session(t, '(within 1s)', '$ echo a', 'b'), /tried \d+ times within 1s/);
});
