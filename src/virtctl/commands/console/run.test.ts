import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { vm, vmi } from '../../../testing/builders.ts';
import { FakeClock } from '../../../testing/fake-clock.ts';
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

test('input that ends is answered, and then the console is left', async () => {
  const { openConsole, written, output } = echo();
  const [stdin, clock] = [new PassThrough(), new FakeClock()];
  const { deps, stdout, stderr } = testDeps({ [VM]: vm('Always'), [VMI]: vmi('Running') }, { openConsole, stdin, clock });
  const done = run(deps, { timeout: 5 }, 'db');
  stdin.end('id\r');
  await until(() => stdout() === 'id\r', 'the echo');
  await new Promise(setImmediate); // the end of the input comes behind it
  clock.advance(900);
  output.write('uid=0');
  await until(() => stdout() === 'id\ruid=0', 'the answer');
  for (let step = 0; step < 20 && !stderr().includes('ended'); step++) {
    clock.advance(200);
    await new Promise(setImmediate);
  }
  await done;
  assert.deepEqual(written, ['id\r']);
  assert.match(stderr(), /The input has ended: left the console of db\. virtctl logs db -f keeps showing it\.\n$/);
});

test('a guest that is never silent does not keep who has left', async () => {
  const { openConsole, output } = echo();
  const [stdin, clock] = [new PassThrough(), new FakeClock()];
  const { deps, stderr } = testDeps({ [VM]: vm('Always'), [VMI]: vmi('Running') }, { openConsole, stdin, clock });
  const done = run(deps, { timeout: 5 }, 'db');
  stdin.end();
  await until(() => stderr().includes('Connected'), 'the console');
  let saidMs = 0;
  for (; !stderr().includes('ended') && saidMs < 60_000; saidMs += 500) {
    output.write('tick');
    await new Promise(setImmediate);
    clock.advance(500);
    await new Promise(setImmediate);
  }
  await done;
  assert.ok(saidMs >= 9000 && saidMs <= 12_000, `${saidMs}`);
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
