import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { systemClock } from '../../../base/clock.ts';
import { timeoutSignal } from '../../../base/timeout-signal.ts';
import { ExecProcess } from '../streams/exec-process.ts';
import { answerOf } from './exec-answer.ts';

function run(command: string, signal: AbortSignal): Promise<string | undefined> {
  const child = spawn('sh', ['-c', command], { detached: true });
  return answerOf(new ExecProcess({ child, hasTerminal: false, files: [], readPid: () => child.pid, clock: systemClock }), signal);
}

test('the exit code is the answer, and what it said the reason', async () => {
  const { signal } = new AbortController();
  assert.deepEqual(await Promise.all([run('exit 0', signal), run('echo out; exit 3', signal), run('cat; echo lost >&2; exit 1', signal)]), [
    undefined,
    'command exited with 3: out',
    'command exited with 1: lost',
  ]);
});

test('nobody waits for what a program left behind, nor for one that hangs, nor hears more than a little of it', async () => {
  const soon = () => timeoutSignal(300);
  const [left, hung, loud] = await Promise.all([
    run('setsid sleep 5 & exit 0', soon()),
    run('exec sleep 500', soon()),
    run('head -c 100000 /dev/zero | tr "\\0" x; exit 1', timeoutSignal(20_000)),
  ]);
  assert.deepEqual([left, hung, loud?.length], ['command timed out', 'command timed out', 1024 + 'command exited with 1: '.length]);
});
