import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { identify } from './process-identity.ts';
import { ProcessTable, parseProcess, readProcesses } from './process-usage.ts';

/** `pid (name) state parent ... utime stime ... start vsize rss`. */
function stat(parent: number, ticks: number, pages: number): string {
  const fields = ['S', parent, ...Array(9).fill(0), ticks, 0, ...Array(6).fill(0), 77, 0, pages];
  return `1 (a ) b) ${fields.join(' ')}`;
}

test('a process counts with all that it has started, and nobody else does', () => {
  const processes = new Map(
    [
      [10, stat(1, 100, 1)],
      [11, stat(10, 50, 2)],
      [12, stat(11, 25, 4)],
      [20, stat(1, 999, 999)],
    ].flatMap(([pid, text]) => [[Number(pid), parseProcess(String(text))!] as const]), // the texts are right
  );
  const table = new ProcessTable(processes);
  assert.deepEqual(table.usageOf({ pid: 10, startTime: '77' }), { cpuSeconds: 1.75, memoryBytes: 7 * 4096 });
  assert.equal(table.usageOf({ pid: 10, startTime: '78' }), undefined);
});

test('what cannot be read is no process', () => {
  assert.equal(parseProcess(''), undefined);
});

test('a real process that is busy uses the processor and memory', async (t) => {
  const child = spawn('sh', ['-c', 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo; exec cat'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const used = readProcesses().usageOf(identify(child.pid ?? 0)!); // it runs until it is told not to
  assert.ok(used && used.cpuSeconds > 0 && used.memoryBytes > 100_000, JSON.stringify(used));
});
