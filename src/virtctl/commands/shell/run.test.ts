import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex, PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../../base/clock.ts';
import { ApiError } from '../../../base/errors.ts';
import { vm, vmi } from '../../../testing/builders.ts';
import { type Answers, testDeps } from '../../deps.testing.ts';
import type { ClusterDeps, ConsoleStream } from '../../deps.ts';
import { ensureSshKey } from '../../ssh/ssh-key.ts';
import { run } from './run.ts';

const BASE = 'GET /apis/kubevirt.io/v1/namespaces/default';
const VM = `${BASE}/virtualmachines/db`;
const VMI = `${BASE}/virtualmachineinstances/db`;
const EXEC = 'PUT /apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/db/exec';
const FLAGS = { timeout: 5, port: 22, stdin: false };
const AGENT = vmi('Running', { conditions: [{ type: 'AgentConnected', status: 'True' }] });
const base64 = (text: string) => Buffer.from(text).toString('base64');
const done = { exitCode: 3, stdout: base64('out'), stderr: base64('err'), isTruncated: false };

/** Time passes as soon as somebody waits for it, and everybody else has a turn. */
function quickClock(): Clock {
  let passed = 0;
  return {
    now: () => passed,
    steady: () => passed,
    async sleep(ms, signal) {
      for (let turn = 0; turn < 5; turn += 1) await setImmediate();
      if (!signal?.aborted) passed += ms;
    },
  };
}

/** An ssh that says what it was called with, with this exit code, and a guest whose port greets; a key of ours. */
async function withSsh(t: TestContext, { code, answers, ...more }: { code: number; answers: Answers } & Partial<ClusterDeps>) {
  const dir = mkdtempSync(join(tmpdir(), 'shell-'));
  t.after(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, 'ssh'), `#!/bin/sh\nfor each; do echo "$each"; done >> ${dir}/said\nexit ${code}\n`, { mode: 0o755 });
  const home = join(dir, 'home');
  const { privateKeyPath } = await ensureSshKey(home);
  const openStream = async () => Duplex.from({ readable: new PassThrough().end('SSH-2.0'), writable: new PassThrough() });
  const made = testDeps(answers, { env: { PATH: dir }, home, openStream, clock: quickClock(), ...more });
  return { ...made, privateKeyPath, said: () => readFileSync(join(dir, 'said'), 'utf8').split('\n') };
}

/** A console that prints this. */
function consoleOf(text: string): { openConsole: () => Promise<ConsoleStream> } {
  async function* output() {
    yield Buffer.from(text);
  }
  return { openConsole: async () => ({ output: output(), write() {}, takeOver() {}, close() {} }) };
}

test('a program runs by the agent, with its exit code, and stdout and stderr apart', async () => {
  const { deps, requests, stdout, stderr } = testDeps({ [VMI]: AGENT, [EXEC]: done }, { env: { PATH: '/nowhere' } });
  assert.equal(await run(deps, FLAGS, 'db', '--', 'uname', '-a'), 3);
  assert.deepEqual(requests.at(-1), [EXEC, { command: ['uname', '-a'], timeoutSeconds: 600 }]);
  assert.deepEqual([stdout(), stderr()], ['out', 'err']);
});

test('by the agent, too, it runs as the user that logs in', async () => {
  const instance = { ...AGENT, metadata: { ...AGENT.metadata, annotations: { 'kubevirt.io/login-user': 'debian' } } };
  const { deps, requests } = testDeps({ [VMI]: instance, [EXEC]: done }, { env: { PATH: '/nowhere' } });
  await run(deps, FLAGS, 'db', '--', 'echo', 'a b');
  assert.deepEqual(requests.at(-1)?.[1], { command: ['su', '-', 'debian', '-c', "echo 'a b'"], timeoutSeconds: 600 });
  await run(deps, { ...FLAGS, user: 'root' }, 'db', '--', 'id');
  assert.deepEqual(requests.at(-1)?.[1], { command: ['id'], timeoutSeconds: 600 });
});

test('without a name it is the only machine that runs', async () => {
  const list = { kind: 'VirtualMachineInstanceList', apiVersion: 'kubevirt.io/v1', metadata: {}, items: [AGENT] };
  const { deps } = testDeps({ [`${BASE}/virtualmachineinstances`]: list, [VMI]: AGENT, [EXEC]: done }, { env: { PATH: '/nowhere' } });
  assert.equal(await run(deps, FLAGS, '--', 'true'), 3);
});

test('without an agent a program runs by ssh, with our key', async (t) => {
  const { deps, said, privateKeyPath } = await withSsh(t, { code: 9, answers: { [VMI]: vmi('Running') } });
  assert.equal(await run(deps, FLAGS, 'db', '--', 'echo', 'a b'), 9);
  for (const word of ['root@vmi.db.default', "echo 'a b'", privateKeyPath, 'IdentitiesOnly=yes', 'BatchMode=yes'])
    assert.ok(said().includes(word), word);
});

test('a login is by ssh, as the user that is named', async (t) => {
  const { deps, said, stderr } = await withSsh(t, { code: 0, answers: { [VMI]: AGENT } });
  assert.equal(await run(deps, { ...FLAGS, user: 'me', identityFile: 'mine' }, 'db'), 0);
  assert.deepEqual([said().includes('me@vmi.db.default'), said().includes('mine'), said().includes('BatchMode=yes')], [true, true, false]);
  assert.equal(stderr(), ''); // a server that answers at once is not worth a word
});

test('what is waited for is said when it changes, once each', async () => {
  const phases = [vmi('Scheduling'), vmi('Scheduling'), vmi('Running'), vmi('Running'), vmi('Running'), AGENT];
  const { deps, stderr } = testDeps(
    { [VM]: vm('Always', { printableStatus: 'Starting' }), [VMI]: () => phases.shift() ?? AGENT, [EXEC]: done },
    { clock: quickClock(), env: { PATH: '/nowhere' } },
  );
  assert.equal(await run(deps, FLAGS, 'db', '--', 'true'), 3);
  assert.deepEqual(stderr().split('\n').slice(0, 2), [
    'Waiting: db is Starting. (virtctl why db says what it waits for; Ctrl+C ends this.)',
    'Waiting: db runs, its guest agent is not connected, and there is no ssh on this machine.',
  ]);
});

test('a time that is over says what is still missing, and leaves with 5', async (t) => {
  const refuses = () => Promise.reject(new ApiError('InternalError', 'port 22: the guest refused the connection'));
  const { deps } = await withSsh(t, { code: 0, answers: { [VMI]: vmi('Running') }, openStream: refuses });
  const why = 'db runs, its guest agent is not connected, and nothing listens at its port 22';
  await assert.rejects(run(deps, FLAGS, 'db', '--', 'true'), { code: 'NOT_ENTERED', why, exitCode: 5 });
  const stopped = testDeps({ [VM]: vm('Halted', { printableStatus: 'Stopped' }) });
  await assert.rejects(run(stopped.deps, { ...FLAGS, timeout: 0 }, 'db'), { code: 'NOT_ENTERED', why: 'db is Stopped', exitCode: 5 });
  assert.equal(stopped.stderr(), '');
});

test('a guest that does not take the key is tried again, and then left to the agent', async (t) => {
  const { deps, said } = await withSsh(t, { code: 255, answers: { [VMI]: vmi('Running') } });
  await assert.rejects(run(deps, FLAGS, 'db', '--', 'true'), { exitCode: 5, why: /and ssh does not let root in with the key/ });
  assert.equal(said().filter((word) => word === 'root@vmi.db.default').length, 3);
});

test('a login without ssh is at the console, and that is said', async () => {
  const { deps, stdout, stderr } = testDeps({ [VMI]: vmi('Running') }, { env: { PATH: '/nowhere' }, ...consoleOf('prompt') });
  assert.equal(await run(deps, FLAGS, 'db'), 0);
  assert.equal(stdout(), 'prompt');
  assert.match(stderr(), /^No ssh: there is no ssh on this machine\. This is the serial console\.\nConnected .* Leave it with Ctrl\+\]/);
});

test('so is one to a guest that asks for a login and has no ssh server', async (t) => {
  const refuses = () => Promise.reject(new ApiError('InternalError', 'the guest refused the connection'));
  const answers = { [VMI]: vmi('Running') };
  const { deps, stderr } = await withSsh(t, { code: 0, answers, openStream: refuses, ...consoleOf('\r\ntiny login: ') });
  assert.equal(await run(deps, FLAGS, 'db'), 0);
  assert.match(stderr(), /Waiting: db runs, but nothing listens at its port 22\..*\nNo ssh: nothing listens at its port 22\. This is/);
});

test('and one that ssh refuses', async (t) => {
  const { deps, said, stderr } = await withSsh(t, { code: 255, answers: { [VMI]: vmi('Running') }, ...consoleOf('') });
  assert.equal(await run(deps, FLAGS, 'db'), 0);
  assert.equal(said().filter((word) => word === 'root@vmi.db.default').length, 1);
  assert.match(stderr(), /No ssh: ssh does not let root in with the key that it was shown\./);
});

test('a machine that is not there is an error at once, and so is a wrong flag', async () => {
  await assert.rejects(run(testDeps().deps, FLAGS, 'db'), { reason: 'NotFound' });
  for (const wrong of [{ timeout: -1 }, { timeout: Number.NaN }, { user: '-oProxyCommand=x' }])
    await assert.rejects(run(testDeps().deps, { ...FLAGS, ...wrong }, 'db'), { code: 'USAGE', exitCode: 2 });
});
