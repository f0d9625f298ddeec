import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { vm, vmi } from '../../../testing/builders.ts';
import { until } from '../../../testing/until.ts';
import { testDeps } from '../../deps.testing.ts';
import type { ConsoleStream, ConsoleTarget } from '../../deps.ts';
import { run } from './run.ts';

const BASE = 'GET /apis/kubevirt.io/v1/namespaces/default';
const VM = `${BASE}/virtualmachines/db`;
const VMI = `${BASE}/virtualmachineinstances/db`;
const WATCH = `${BASE}/virtualmachineinstances?fieldSelector=metadata.name%3Ddb&watch=true&allowWatchBookmarks=true`;

/** A guest that prints what it is sent. */
function echo() {
  const output = new PassThrough();
  const written: string[] = [];
  const targets: ConsoleTarget[] = [];
  const stream: ConsoleStream = {
    output,
    write: (bytes) => {
      written.push(Buffer.from(bytes).toString());
      output.write(bytes);
    },
    takeOver: () => written.push('(take over)'),
    close: () => output.end(),
  };
  const openConsole = async (target: ConsoleTarget) => {
    targets.push(target);
    return stream;
  };
  return { openConsole, written, targets, output };
}

test('what is typed goes to the guest until Ctrl+], and what it prints comes back', async () => {
  const { openConsole, written, targets } = echo();
  const stdin = new PassThrough();
  const { deps, stdout, stderr } = testDeps({ [VM]: vm('Always'), [VMI]: vmi('Running') }, { openConsole, stdin });
  const done = run(deps, { timeout: 5 }, 'db');
  stdin.write('id\r');
  await until(() => stdout() === 'id\r', 'the echo');
  stdin.write('x\x1dy');
  await done;
  assert.deepEqual(written, ['id\r', 'x']);
  assert.deepEqual([targets[0]?.namespace, targets[0]?.name, targets[0]?.isShared], ['default', 'db', true]);
  assert.equal(stderr(), 'Connected to the console of db. Leave it with Ctrl+]. Press Enter for a prompt.\n\n');
});

test('who does not have the turn is told, and Ctrl+T asks for it', async () => {
  const { openConsole, written, targets, output } = echo();
  const stdin = new PassThrough();
  const { deps, stderr } = testDeps({ [VM]: vm('Always'), [VMI]: vmi('Running') }, { openConsole, stdin });
  const done = run(deps, { timeout: 5 }, 'db');
  await until(() => targets.length === 1, 'the console');
  targets[0]?.onTurn?.(false);
  stdin.write('\x14');
  await until(() => written.length === 1, 'the wish');
  output.end();
  await done;
  assert.deepEqual(written, ['(take over)']);
  assert.match(stderr(), /somebody else types now; Ctrl\+T takes over[\s\S]*closed by the other side/);
});

test('a stopped machine is waited for, and that is said at once', async () => {
  const { openConsole, output } = echo();
  const events = new PassThrough();
  const { deps, stderr, requests } = testDeps(
    { [VM]: vm('Halted', { printableStatus: 'Stopped' }), [WATCH]: () => new Response(events as never) }, // a stream is a body
    { openConsole },
  );
  const done = run(deps, { timeout: 5 }, 'db');
  await until(() => requests.some(([request]) => request === WATCH), 'the watch');
  assert.equal(stderr(), 'db is Stopped: waiting up to 5 min until it runs. virtctl start db starts it; Ctrl+C ends this.\n');
  events.write(`${JSON.stringify({ type: 'ADDED', object: vmi('Scheduling') })}\n`);
  events.write(`${JSON.stringify({ type: 'MODIFIED', object: vmi('Running') })}\n`);
  await until(() => stderr().includes('Connected'), 'the console');
  output.end();
  await done;
});

test('--timeout 0 only looks', async () => {
  const { deps, stderr } = testDeps({ [VM]: vm('Halted', { printableStatus: 'Stopped' }) });
  await assert.rejects(run(deps, { timeout: 0 }, 'db'), { code: 'VM_NOT_RUNNING', why: 'it was Stopped', exitCode: 5 });
  assert.equal(stderr(), '');
});

test('a time that is over is no stack trace, and one that is no time is refused', async () => {
  const mute = () => new Response(new PassThrough() as never); // a stream is a body
  const { deps } = testDeps({ [VM]: vm('Halted'), [WATCH]: mute });
  await assert.rejects(run(deps, { timeout: 0.0005 }, 'db'), { code: 'VM_NOT_RUNNING', exitCode: 5 });
  for (const timeout of [-1, Number.NaN]) await assert.rejects(run(deps, { timeout }, 'db'), { code: 'USAGE', exitCode: 2 });
});

test('a machine that is not there is an error at once', async () => {
  await assert.rejects(run(testDeps().deps, { timeout: 5 }, 'db'), { reason: 'NotFound' });
});
