import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { EmbeddedCluster } from './harness.ts';

const STORE = /^store\.db(-wal|-shm)?$/;

test('a store that does not know a guest never ends it', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  const aside = join(cluster.home, 'aside');
  mkdirSync(aside);
  const move = (from: string, to: string) => {
    for (const name of readdirSync(from).filter((each) => STORE.test(each))) renameSync(join(from, name), join(to, name));
  };
  const empty = join(cluster.home, 'empty.backup');
  await cluster.must('virtctl', ['backup', empty]);
  await cluster.must('kubectl', ['apply', '-f', 'examples/vm.yaml']);
  await cluster.until('vm/hello', '.status.ready', 'true');
  await using console = cluster.console('hello');
  await console.expect(/guest ready/);
  const guests = cluster.guestPids();
  process.kill(cluster.pid(), 'SIGKILL');

  await t.test('an older backup is not restored over it', async () => {
    const { code, stderr } = await cluster.virtctl(['restore', empty]);
    assert.equal(code, 4);
    assert.match(stderr, /STORE_FORGOT_GUESTS.*VirtualMachineInstance hello in default/s);
  });

  await t.test('up refuses, names the guest, and ends nothing', async () => {
    move(cluster.home, aside);
    const { code, stderr } = await cluster.virtctl(['up']);
    assert.equal(code, 4);
    assert.match(stderr, /STORE_FORGOT_GUESTS.*VirtualMachineInstance hello in default.*--adopt.*virtctl down/s);
    assert.deepEqual(cluster.guestPids(), guests);
  });

  await t.test('with the old store back it is a guest of the cluster again', async () => {
    move(aside, cluster.home);
    await cluster.must('virtctl', ['up']);
    await cluster.until('vm/hello', '.status.printableStatus', 'Running');
    assert.deepEqual(cluster.guestPids(), guests);
  });

  await t.test('up --adopt leaves it running outside of the cluster, also the next time, and status and doctor show it', async () => {
    process.kill(cluster.pid(), 'SIGKILL');
    move(cluster.home, aside);
    await cluster.must('virtctl', ['up', '--adopt']);
    assert.deepEqual(cluster.guestPids(), guests);
    assert.match(await cluster.must('virtctl', ['status']), /unknown {5}VirtualMachineInstance hello in default runs outside/);
    process.kill(cluster.pid(), 'SIGKILL');
    await cluster.must('virtctl', ['up']);
    assert.deepEqual(cluster.guestPids(), guests);
    assert.match((await cluster.virtctl(['doctor'])).stdout, /! guests .*VirtualMachineInstance hello in default/);
  });

  await t.test('virtctl down presses its power button', async () => {
    assert.match(await cluster.must('virtctl', ['down']), /1 shut down/);
    assert.deepEqual(cluster.guestPids(), []);
  });
});
