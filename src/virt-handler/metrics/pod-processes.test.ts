import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { SANDBOX_VARIABLE } from '../../base/node/sandbox-path.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { until } from '../../testing/until.ts';
import { PodProcesses, parseStat, podOfCgroups } from './pod-processes.ts';

const UID = '6f1cdb3e-5b0e-4b2e-9d3c-0d0c9f1e2a3b';
const KUBELET = '/nowhere/kubelet';

test('time, memory and the start are read whatever the program is called', () => {
  const stat = '7 (qemu) (x) R) S 1 7 7 0 -1 4194560 1 2 3 4 250 50 0 0 20 0 5 0 4711 1 512';
  assert.deepEqual(parseStat(stat), { userSeconds: 2.5, systemSeconds: 0.5, residentBytes: 2 * 2 ** 20, startTime: '4711' });
  assert.equal(parseStat(stat.replace(') S', ') Z')), undefined);
  assert.equal(parseStat(undefined), undefined);
});

test('a process belongs to the Pod of its cgroup, whoever manages those', () => {
  assert.equal(podOfCgroups(`5:memory:/kubepods/burstable/pod${UID}/4711\n`), UID);
  assert.equal(podOfCgroups(`0::/kubepods-burstable-pod${UID.replaceAll('-', '_')}.slice/cri-4711.scope\n`), UID);
  assert.equal(podOfCgroups('0::/user.slice\n'), undefined);
});

test('all processes of a Pod are counted together, and are looked for again when one of them is gone', async (t) => {
  const clock = new FakeClock();
  const processes = new PodProcesses({ kubeletRoot: KUBELET, clock });
  assert.equal(processes.read(UID), undefined);
  const first = sleeper(t);
  assert.equal(processes.read(UID), undefined, 'looked for once in a while, not each time');
  clock.advance(5_000);
  const alone = processes.read(UID)?.residentBytes ?? 0;
  assert.ok(alone > 0);
  sleeper(t);
  first.kill();
  await until(() => first.signalCode !== null);
  clock.advance(5_000);
  assert.ok((processes.read(UID)?.residentBytes ?? 0) > 0);
});

function sleeper(t: TestContext) {
  const child = spawn('sleep', ['600'], { env: { ...process.env, [SANDBOX_VARIABLE]: join(KUBELET, 'pods', UID, 'x') } });
  t.after(() => child.kill());
  return child;
}
