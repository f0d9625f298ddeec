import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { systemClock } from '../../base/clock.ts';
import { identifyChild, isSameProcess } from '../../base/node/process-identity.ts';
import { restartsOf } from './restarts.ts';
import { endSupervisor, keepSupervisor, supervised } from './supervisor.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'supervisor-'));
  mkdirSync(join(home, 'run'));
  writeFileSync(join(home, 'vmstat'), 'nr_free_pages 5\noom_kill 3\n');
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const COUNTS = 'echo x >> starts';
const SERVES = `echo "{\\"process\\":{\\"pid\\":$$,\\"startTime\\":\\"1\\"}}" > run/embedded.json`;
const FIRST = '[ $(wc -l < starts) = 1 ]';

function start(script: string) {
  const options = { home, command: ['sh', '-c', script], pauseSeconds: 0, vmstat: join(home, 'vmstat') };
  const [program = '', ...args] = supervised(options);
  const child = spawn(program, args, { cwd: home, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  let log = '';
  child.stdout.on('data', (chunk) => {
    log += chunk;
  });
  return { child, ended: once(child, 'close').then(([code]) => ({ code, log })) };
}

const starts = () => readFileSync(join(home, 'starts'), 'utf8').length / 2;

const CASES: [what: string, script: string, starts: number, because: string | undefined][] = [
  ['an end that was asked for', `${SERVES}; exit 0`, 1, undefined],
  ['a signal that asks', `${SERVES}; kill -TERM $$`, 1, undefined],
  ['kill -9 of a person', `${SERVES}; kill -9 $$`, 1, undefined],
  ['a failure before it served', 'exit 1', 1, undefined],
  ['an exception that nobody caught', `${SERVES}; ${FIRST} && exit 7; exit 0`, 2, 'exit code 7'],
  ['a full heap', `${SERVES}; ${FIRST} && kill -ABRT $$; exit 0`, 2, 'it gave up (signal 6), as it does when its heap is full'],
  ['a fault', `${SERVES}; ${FIRST} && kill -SEGV $$; exit 0`, 2, 'a fault (signal 11)'],
  [
    'a machine without memory',
    `${SERVES}; ${FIRST} && { echo oom_kill 4 > vmstat; kill -9 $$; }; exit 0`,
    2,
    'the kernel killed it for lack of memory',
  ],
  [
    'a start that fails after it had served',
    `${FIRST} && ${SERVES} && exit 1; [ $(wc -l < starts) = 2 ] && exit 1; exit 0`,
    3,
    'exit code 1',
  ],
  ['a data folder that is gone', `${SERVES}; rm -r run; exit 1`, 1, undefined],
];
for (const [what, script, times, because] of CASES) {
  test(`${what}: started ${times === 1 ? 'once' : `${times} times`}`, async () => {
    await start(`ulimit -c 0; ${COUNTS}; ${script}`).ended;
    assert.deepEqual([starts(), restartsOf(home)?.because, restartsOf(home)?.count], [times, because, because && times - 1]);
  });
}

test('one that ends again and again is left alone after five restarts, and the log says so', async () => {
  const { code, log } = await start(`${COUNTS}; ${SERVES}; exit 1`).ended;
  const lines = log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual([code, starts(), lines.length], [1, 6, 6]);
  assert.deepEqual(
    [lines[0].message, lines[0].because, lines[5].message],
    [
      'the embedded cluster ended unexpectedly and is started again',
      'exit code 1',
      'the embedded cluster ended too often and is not started again: virtctl up, or virtctl up --without-controllers to delete what ends it',
    ],
  );
});

test('ending it ends what it has started, and nothing is started again', async () => {
  const { child, ended } = start(
    `${COUNTS}; ${SERVES}; trap "echo asked >> ended; exit 1" TERM; touch run/up; while :; do sleep 0.01; done`,
  );
  const supervisor = identifyChild(child.pid ?? 0);
  assert.ok(supervisor);
  keepSupervisor(home, supervisor);
  await untilThere(join(home, 'run'), 'up');
  await endSupervisor(home, systemClock);
  await ended;
  assert.deepEqual([starts(), readFileSync(join(home, 'ended'), 'utf8'), isSameProcess(supervisor)], [1, 'asked\n', false]);
  await endSupervisor(home, systemClock); // none is there
});

test('it ends however early it is asked to', async () => {
  for (let delayMs = 0; delayMs < 20; delayMs++) {
    const { child, ended } = start('exec sleep 60');
    const supervisor = identifyChild(child.pid ?? 0);
    assert.ok(supervisor);
    keepSupervisor(home, supervisor);
    await systemClock.sleep(delayMs);
    await endSupervisor(home, systemClock);
    await ended;
  }
});

test('only the first process has somebody to report to', async () => {
  const says = '[ -n "$NODE_CHANNEL_FD" ] && echo "{}" >&3 || ! echo x 2>/dev/null >&3 || touch leaked';
  const options = { home, command: ['sh', '-c', `${COUNTS}; ${SERVES}; ${says}; ${FIRST} && exit 1; exit 0`], pauseSeconds: 0 };
  const [program = '', ...args] = supervised(options);
  const child = spawn(program, args, { cwd: home, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const messages: unknown[] = [];
  child.on('message', (message) => messages.push(message));
  await once(child, 'close');
  assert.deepEqual([messages, starts(), existsSync(join(home, 'leaked'))], [[{}], 2, false]);
});

test('what is called for runs beside it, and the one who waits for calls ends with it', async () => {
  const hostCommand = ['sh', '-c', 'echo "$0" >> called', "it's called"];
  const calls = `${SERVES}; echo start > run/host-call; while [ ! -s called ]; do sleep 0.01; done; exit 0`;
  const [program = '', ...args] = supervised({ home, command: ['sh', '-c', calls], hostCommand });
  const child = spawn(program, args, { cwd: home, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  child.stdout.resume();
  const [code] = await once(child, 'close'); // of the output, too: nobody is left who could write there
  assert.deepEqual([code, readFileSync(join(home, 'called'), 'utf8')], [0, "it's called\n"]);
});

async function untilThere(folder: string, name: string): Promise<void> {
  const watcher = watch(folder);
  while (!existsSync(join(folder, name))) await Promise.race([once(watcher, 'change'), systemClock.sleep(100)]);
  watcher.close();
}
