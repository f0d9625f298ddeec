import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOfPod, parseUsage, readUsage } from './usage.ts';

test('time and memory are read whatever the program is called', () => {
  const stat = '7 (qemu) (x) R) S 1 7 7 0 -1 4194560 1 2 3 4 250 50 0 0 20 0 5 0 100 1 2';
  assert.deepEqual(parseUsage(stat, 'Name:\tqemu\nVmRSS:\t    2048 kB\n'), { cpuSeconds: 3, memoryBytes: 2 * 1024 * 1024 });
});

test('a process that ended has none', () => {
  assert.equal(parseUsage('7 (qemu) Z 1 7 7 0 -1 4194560 1 2 3 4 250 50', 'Name:\tqemu\n'), undefined);
});

test('a guest whose process cannot be seen is said to be so', () => {
  const podUid = '6f1cdb3e-5b0e-4b2e-9d3c-0d0c9f1e2a3b';
  for (const nodeProcesses of [undefined, '/proc'])
    assert.throws(() => readUsage({ podUid, podFolder: `/nonexistent/pods/${podUid}`, nodeProcesses }, 0), {
      reason: 'NotFound',
      message: /kubectl top pod/,
    });
});

test('a process belongs to the Pod of its cgroup, whoever manages those', () => {
  const isOfOurs = (cgroups: string) => isOfPod(cgroups, '6f1c-5b0e');
  assert.ok(isOfOurs('5:memory:/kubepods/burstable/pod6f1c-5b0e/4711\n4:cpu,cpuacct:/kubepods/burstable/pod6f1c-5b0e/4711\n'));
  assert.ok(isOfOurs('0::/../../kubepods-burstable-pod6f1c_5b0e.slice/cri-containerd-4711.scope\n'));
  assert.ok(!isOfOurs('0::/kubepods/pod6f1c-5b0f/4711\n'));
});
