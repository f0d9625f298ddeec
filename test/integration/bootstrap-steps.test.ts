/** The lines of script/bootstrap: each step is ticked off with its time, and what a step said is shown when it fails. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const STEP = /^step\(\) \{\n[\s\S]*?\n\}\n/m.exec(readFileSync('script/bootstrap', 'utf8'))?.[0] ?? '';

function said(calls: string) {
  const { status, stderr } = spawnSync('sh', ['-euc', `${STEP}\n${calls}`], { encoding: 'utf8', timeout: 60_000 });
  return { status, lines: stderr.trimEnd().split('\n') };
}

test('a step is named when it begins and ticked off when it is done, without what it printed', () => {
  const { status, lines } = said('step npm "installing libraries" sh -c "echo much; echo more >&2"');
  assert.equal(status, 0);
  assert.deepEqual([lines.length, lines[0]?.trimEnd()], [2, '  . npm       installing libraries']);
  assert.match(lines[1] ?? '', /^ {2}✓ npm {7}installing libraries \d+s$/);
});

test('a step that fails is crossed out, and what it printed is shown', () => {
  const { status, lines } = said('step apt "installing QEMU" sh -c "echo no such package; exit 7" || exit 3');
  assert.equal(status, 3);
  assert.deepEqual(lines.slice(1), ['  ✗ apt', 'no such package']);
});
