import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { VirtualMachineInstance } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { COMPUTE_PROCESS_FILE } from '../api/launcher/disk-share.ts';
import { LAUNCHER_VARIABLES } from '../api/launcher/variables.ts';
import { systemClock } from '../base/clock.ts';
import { diskRootIn, untilDisksAreThere } from './container-disk-share.ts';

const hold = join(import.meta.dirname, 'scripts/hold');
const withDisk = { spec: { volumes: [{ name: 'root', containerDisk: { image: 'x' } }] } } as unknown as Pick<
  VirtualMachineInstance,
  'spec'
>;

/** The shared volume as `virt-launcher-share` leaves it. */
function share(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'disk-share-'));
  t.after(() => rmSync(folder, { recursive: true }));
  cpSync(hold, join(folder, 'hold'));
  spawnSync('mkfifo', [join(folder, 'never')]);
  return folder;
}

/** With busybox as in the image, where the machine has it. */
function start(t: TestContext, folder: string): ChildProcess {
  const shell = existsSync('/bin/busybox') ? ['/bin/busybox', 'sh'] : ['bash'];
  const [program = '', ...args] = [...shell, join(folder, 'hold'), folder, 'root'];
  const child = spawn(program, args, { stdio: 'inherit' });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

test('the image of a disk is the root folder of the process that holds it, and compute waits for it', { timeout: 60_000 }, async (t) => {
  const folder = share(t);
  assert.equal(diskRootIn(folder, 'root'), undefined);
  const waiting = untilDisksAreThere({
    vmi: withDisk,
    env: { [LAUNCHER_VARIABLES.diskShare]: folder },
    clock: systemClock,
    signal: new AbortController().signal,
  });
  const child = start(t, folder);
  await waiting;
  assert.equal(diskRootIn(folder, 'root'), `/proc/${child.pid}/root`);
  assert.equal(readFileSync(join(folder, COMPUTE_PROCESS_FILE), 'utf8'), `${process.pid}\n`);
});

test('the process that holds a disk ends when compute has ended', { timeout: 60_000 }, async (t) => {
  const folder = share(t);
  const compute = spawn('sleep', ['600']);
  t.after(() => compute.kill('SIGKILL'));
  writeFileSync(join(folder, COMPUTE_PROCESS_FILE), `${compute.pid}\n`);
  const child = start(t, folder);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  while (diskRootIn(folder, 'root') === undefined) await systemClock.sleep(20);
  assert.equal(child.exitCode, null);
  compute.kill('SIGKILL');
  assert.equal(await ended, 0);
});

test('a stop ends the waiting', async (t) => {
  const stop = new AbortController();
  const waiting = untilDisksAreThere({
    vmi: withDisk,
    env: { [LAUNCHER_VARIABLES.diskShare]: share(t) },
    clock: systemClock,
    signal: stop.signal,
  });
  stop.abort();
  await waiting;
});
