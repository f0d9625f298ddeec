import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseUsage, readUsage } from './usage.ts';

test('time and memory are read whatever the program is called', () => {
  const stat = '7 (qemu) (x) R) S 1 7 7 0 -1 4194560 1 2 3 4 250 50 0 0 20 0 5 0 100 1 2';
  assert.deepEqual(parseUsage(stat, 'Name:\tqemu\nVmRSS:\t    2048 kB\n'), { cpuSeconds: 3, memoryBytes: 2 * 1024 * 1024 });
});

test('a process that ended has none', () => {
  assert.equal(parseUsage('7 (qemu) Z 1 7 7 0 -1 4194560 1 2 3 4 250 50', 'Name:\tqemu\n'), undefined);
});

test('a guest whose process cannot be seen is said to be so', () => {
  assert.throws(() => readUsage('/nonexistent/pods/uid', 0), { reason: 'NotFound', message: /kubectl top pod/ });
});
