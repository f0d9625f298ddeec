import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startQemu, temporaryFolder } from '../../qemu/qmp/qemu.testing.ts';
import type { Guest } from '../vmi/domains.ts';
import { threadIdsIn, VcpuThreads } from './vcpu-figures.ts';

const GUEST = {} as Pick<Guest, 'session'>; // by which one it is told from another
const cpu = (index: number, thread: number) => ({ 'cpu-index': index, 'thread-id': thread });

/** A process in whose Pod its threads have other numbers than on the node. */
async function processOf(t: TestContext, threads: readonly { number: number; inside: number; state: string; ticks: number }[]) {
  const folder = await temporaryFolder(t);
  for (const { number, inside, state, ticks } of threads) {
    const task = join(folder, 'task', String(number));
    await mkdir(task, { recursive: true });
    await writeFile(join(task, 'stat'), `${number} (CPU 0/TCG) ${state} 1 7 7 0 -1 0 0 0 0 0 ${ticks} 50 0 0 20 0 5 0 47${number} 1 512`);
    await writeFile(join(task, 'status'), `Name:\tqemu\nNSpid:\t${number}\t${inside}\n`);
    await writeFile(join(task, 'schedstat'), '12 2500000000 7\n');
    await writeFile(
      join(task, 'sched'),
      'qemu (1, #threads: 5)\nwait_start  :  0.0\nwait_sum                          :          1500.25\n',
    );
  }
  return folder;
}

test('a processor is found by the number that its thread has within the Pod, and is asked for once', async (t) => {
  const folder = await processOf(t, [
    { number: 901, inside: 1, state: 'S', ticks: 1 },
    { number: 905, inside: 5, state: 'R', ticks: 250 },
    { number: 906, inside: 6, state: 'S', ticks: 100 },
  ]);
  let questions = 0;
  const ask = async () => {
    questions += 1;
    return [cpu(0, 5), cpu(1, 6)];
  };
  const threads = new VcpuThreads();
  const waits = { waitSeconds: 1.50025, delaySeconds: 2.5 };
  const expected = [
    { id: 0, state: 'running', seconds: 3, ...waits },
    { id: 1, state: 'blocked', seconds: 1.5, ...waits },
  ];
  assert.deepEqual(await threads.read(GUEST, [folder], ask), expected);
  assert.deepEqual(await threads.read(GUEST, [folder], ask), expected);
  assert.equal(questions, 1);
});

test('a thread that is another one by now is looked for again', async (t) => {
  const folder = await processOf(t, [{ number: 905, inside: 5, state: 'R', ticks: 250 }]);
  const threads = new VcpuThreads();
  let thread = 5;
  const read = async () => (await threads.read(GUEST, [folder], async () => [cpu(0, thread)])).map(({ seconds }) => seconds);
  assert.deepEqual(await read(), [3]);
  await writeFile(join(folder, 'task/905/stat'), '905 (other) R 1 7 7 0 -1 0 0 0 0 0 9 9 0 0 20 0 5 0 9999 1 512');
  thread = 77;
  assert.deepEqual(await read(), []);
});

test('one thread for all processors, and answers that are none, tell nothing', () => {
  assert.deepEqual([...threadIdsIn([cpu(0, 5), cpu(1, 5)])], []);
  for (const nonsense of [undefined, {}, [7], [{ 'cpu-index': 'x', 'thread-id': 5 }]]) assert.deepEqual([...threadIdsIn(nonsense)], []);
});

test('the processors of a real QEMU are seen', { timeout: 30_000 }, async (t) => {
  const { pid } = await startQemu(t, { machine: 'q35', isPaused: true, args: ['-smp', '2'] });
  const tasks = readdirSync(`/proc/${pid}/task`).map(Number).slice(0, 2);
  const figures = await new VcpuThreads().read(GUEST, [`/proc/${pid}`], async () => tasks.map((task, index) => cpu(index, task)));
  assert.deepEqual(
    figures.map(({ id }) => id),
    [0, 1],
  );
});
