import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex, Readable } from 'node:stream';
import { test } from 'node:test';
import { systemClock } from '../../../base/clock.ts';
import { vm, vmi } from '../../../testing/builders.ts';
import { status, testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const PATH = 'PUT /apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/db/exec';
const VMI = 'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances/db';
const VM = 'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachines/db';
const base64 = (text: string) => Buffer.from(text).toString('base64');
const FLAGS = { timeout: 30, stdin: false };

test('what the program printed and its exit code are ours', async () => {
  const answer = { exitCode: 3, stdout: base64('out\n'), stderr: base64('err\n'), isTruncated: false };
  const { deps, requests, stdout, stderr } = testDeps({ [PATH]: answer });
  assert.equal(await run(deps, FLAGS, 'db', 'uname', '-a'), 3);
  assert.deepEqual(requests, [[PATH, { command: ['uname', '-a'], timeoutSeconds: 30 }]]);
  assert.deepEqual([stdout(), stderr()], ['out\n', 'err\n']);
});

test('a signal that ended the program is said as a shell does', async () => {
  const { deps, stderr } = testDeps({ [PATH]: { signal: 9, stdout: '', stderr: '', isTruncated: true } });
  assert.equal(await run(deps, FLAGS, 'db', 'true'), 137);
  assert.match(stderr(), /printed more than is shown/);
});

test('a program that is not in the guest, or cannot be run there, ends with the code of a shell', async () => {
  const refused = (why: string) =>
    status(
      'InternalError',
      `Cannot exec default/db: the guest agent refused guest-exec: Failed to execute child process “nosuch” (${why})`,
    );
  const outcome = (why: string) => run(testDeps({ [PATH]: refused(why) }).deps, FLAGS, 'db', 'nosuch', 'x');
  await assert.rejects(outcome('No such file or directory'), { code: 'PROGRAM_NOT_FOUND', exitCode: 127 });
  await assert.rejects(outcome('Permission denied'), { code: 'PROGRAM_NOT_EXECUTABLE', exitCode: 126 });
  await assert.rejects(outcome('Too many open files'), { reason: 'InternalError' });
});

test('--stdin is carried to the program, up to what an agent takes', async () => {
  const answer = { exitCode: 0, stdout: '', stderr: '', isTruncated: false };
  const small = testDeps({ [PATH]: answer }, { stdin: Readable.from([Buffer.from('input')]) });
  await run(small.deps, { ...FLAGS, stdin: true }, 'db', 'cat');
  assert.deepEqual(small.requests.at(-1)?.[1], { command: ['cat'], timeoutSeconds: 30, input: base64('input') });
  const large = testDeps({}, { stdin: Readable.from([Buffer.alloc(300 * 1024)]) });
  await assert.rejects(run(large.deps, { ...FLAGS, stdin: true }, 'db', 'cat'), { code: 'INPUT_TOO_LARGE', exitCode: 2 });
  assert.ok(!large.requests.some(([request]) => request === PATH));
});

test('a guest without an agent is entered by ssh, and its user is said; the exit code of the program is ours', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'exec-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'ssh'), '#!/bin/sh\nexit 3\n', { mode: 0o755 });
  const greeting = async () => Duplex.from(Readable.from([Buffer.from('SSH-2.0-x\r\n')]));
  const answers = { [PATH]: status('Conflict', 'VMI does not have guest agent connected'), [VMI]: vmi('Running'), [VM]: vm('Always') };
  for (const stdin of [false, true]) {
    const { deps, stderr } = testDeps(answers, { openStream: greeting, env: { PATH: bin }, home: folder, clock: systemClock });
    assert.equal(await run(deps, { ...FLAGS, stdin }, 'db', 'false'), 3);
    assert.match(stderr(), /by ssh, as root/);
  }
});

test('a guest with neither is waited for as long as the program may take, and one that does not run is refused at once', async () => {
  const refusal = status('Conflict', 'VMI does not have guest agent connected');
  const { deps } = testDeps({ [PATH]: refusal, [VMI]: vmi('Running'), [VM]: vm('Always') }, { clock: systemClock, env: {} });
  await assert.rejects(run(deps, { ...FLAGS, timeout: 0.05 }, 'db', 'true'), {
    code: 'NOT_ENTERED',
    why: /its guest agent is not connected/,
    exitCode: 5,
  });
  const stopped = testDeps({ [PATH]: status('Conflict', 'VMI is not running'), [VMI]: vmi('Scheduled') });
  await assert.rejects(run(stopped.deps, FLAGS, 'db', 'true'), { message: 'VMI is not running' });
});
