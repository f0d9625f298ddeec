import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { livingPods } from './living-pods.ts';
import { APART_VARIABLE, SANDBOX_VARIABLE } from './sandbox-path.ts';

test('what runs beside a guest in a network of its own is of its Pod, and nobody takes its network for that of the guest', async (t) => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'kubevirt-ts-living-')));
  t.after(() => rmSync(home, { recursive: true }));
  const sandbox = join(home, 'kubelet/pods/u1/root/compute');
  mkdirSync(sandbox, { recursive: true });
  const pids = [];
  for (const apart of [{}, { [APART_VARIABLE]: 'virtiofsd' }]) {
    const child = spawn('sleep', ['60'], { env: { PATH: process.env['PATH'], [SANDBOX_VARIABLE]: sandbox, ...apart }, stdio: 'ignore' });
    t.after(() => child.kill());
    await once(child, 'spawn');
    pids.push(child.pid);
  }
  const [pod] = livingPods(home);
  const isInside = new Map(pod?.containers.map((each) => [each.process.pid, each.isInside]));
  assert.deepEqual([pod?.uid, ...pids.map((pid) => isInside.get(pid ?? 0))], ['u1', false, true]);
});
