import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { createProgress } from './progress.ts';

function recorder(isTTY: boolean, columns = 80, env = {}) {
  const written: string[] = [];
  let now = 0;
  const clock = () => {
    now += 500;
    return now;
  };
  const progress = createProgress({ write: (bytes) => written.push(String(bytes)), isTTY, columns }, { now: clock }, env);
  return { written, progress };
}

test('off a terminal only the result of a step is printed', async () => {
  const { written, progress } = recorder(false);
  await progress.step('image', async (step) => {
    step.update('half way');
    return 'done';
  });
  assert.deepEqual(written, [`  ✓ image     ${'done'.padEnd(60)} 0.5s\n`]);
});

for (const env of [{ TERM: 'dumb' }, { NO_COLOR: '1' }]) {
  test(`a terminal with ${JSON.stringify(env)} gets only results`, async () => {
    const { written, progress } = recorder(true, 80, env);
    await progress.step('image', async () => 'done');
    assert.deepEqual(written, [`  ✓ image     ${'done'.padEnd(60)} 0.5s\n`]);
  });
}

test('what a guest prints cannot move the cursor of the terminal', async () => {
  const { written, progress } = recorder(true);
  await progress.step('vm', async (step) => {
    step.update('\u001b[2Jboot\u0007ing\u001b]0;title\u0007');
    return 'ok';
  });
  assert.match(written[1] ?? '', /booting/);
  for (const bad of ['\u001b[2J', '\u0007', 'title']) assert.ok(!written[1]?.includes(bad), JSON.stringify(bad));
});

test('a step that fails is marked and the failure goes on', async () => {
  const { written, progress } = recorder(false);
  await assert.rejects(
    progress.step('qemu', () => Promise.reject(new Error('missing'))),
    /missing/,
  );
  assert.deepEqual(written, ['  ✗ qemu\n']);
});

for (const [columns, expected] of [
  [0, 'booting'],
  [19, 'boot'],
] as const) {
  test(`on a terminal of ${columns} columns the running step is ${expected}`, async () => {
    const { written, progress } = recorder(true, columns);
    await progress.step('vm', async (step) => {
      step.update('booting');
      return 'ok';
    });
    assert.match(written[1] ?? '', new RegExp(`vm {8}${expected}\u001b`));
  });
}

test('a step that came out worse than it should is not ticked off', async () => {
  const { written, progress } = recorder(false);
  await progress.step('control', async () => ({ warning: 'no network' }));
  assert.deepEqual(written, [`  ! control   ${'no network'.padEnd(60)} 0.5s\n`]);
});

test('on a terminal of 80 columns a long result is folded under its text', async () => {
  const { written, progress } = recorder(true);
  await progress.step('control', async () => 'https://127.0.0.1:6443, data in /home/somebody/.local/share/kubevirt-ts, was running');
  const lines = stripVTControlCharacters(written.at(-1) ?? '')
    .trim()
    .split('\n');
  assert.ok(lines.length === 2 && lines.every((line) => line.length <= 80), lines.join('\n'));
  assert.match(lines[1] ?? '', /^ {14}\S.* 0\.5s$/);
});
