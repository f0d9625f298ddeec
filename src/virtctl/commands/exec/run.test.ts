import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const PATH = 'PUT /apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/db/exec';
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

test('--stdin is carried to the program, up to what an agent takes', async () => {
  const answer = { exitCode: 0, stdout: '', stderr: '', isTruncated: false };
  const small = testDeps({ [PATH]: answer }, { stdin: Readable.from([Buffer.from('input')]) });
  await run(small.deps, { ...FLAGS, stdin: true }, 'db', 'cat');
  assert.deepEqual(small.requests[0]?.[1], { command: ['cat'], timeoutSeconds: 30, input: base64('input') });
  const large = testDeps({}, { stdin: Readable.from([Buffer.alloc(300 * 1024)]) });
  await assert.rejects(run(large.deps, { ...FLAGS, stdin: true }, 'db', 'cat'), { code: 'INPUT_TOO_LARGE', exitCode: 2 });
  assert.deepEqual(large.requests, []);
});
