import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { identify } from '../../src/base/node/process-identity.ts';
import { EmbeddedCluster } from './harness.ts';
import { GUESTLESS } from './published-features.ts';

const manifest = (name: string) => readFileSync('examples/vm.yaml', 'utf8').replaceAll(/\bhello\b/g, name);
/** A machine of which only its QEMU has to run. */
const NOTHING_TO_BOOT = {
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata: { name: 'hello' },
  spec: { runStrategy: 'Always', template: { spec: { ...GUESTLESS, terminationGracePeriodSeconds: 0 } } },
};

test('guests survive kill -9 of the cluster and are adopted: same processes, no restart, no phase flap', async () => {
  await using cluster = await EmbeddedCluster.start();
  for (const name of ['one', 'two']) await cluster.must('kubectl', ['apply', '-f', '-'], { input: manifest(name) });
  for (const name of ['one', 'two']) await cluster.until(`vm/${name}`, '.status.ready', 'true');
  await using console = cluster.console('one');
  await console.expect(/guest ready/);
  const guests = cluster.guestPids();
  assert.equal(guests.length, 2);
  const facts = () =>
    Promise.all(['one', 'two'].map((name) => cluster.field('vmi', name, '.metadata.uid} {.status.phaseTransitionTimestamps')));
  const before = await facts();

  process.kill(cluster.pid(), 'SIGKILL');
  await console.expect(/closed by the other side|ECONN|socket/i);
  assert.deepEqual(cluster.guestPids(), guests);

  await cluster.must('virtctl', ['up']);
  for (const name of ['one', 'two']) await cluster.until(`vm/${name}`, '.status.printableStatus', 'Running');
  assert.deepEqual(await facts(), before);
  assert.deepEqual(cluster.guestPids(), guests);
  const restarts = await cluster.must('kubectl', [
    'get',
    'pods',
    '-l',
    'kubevirt.io=virt-launcher',
    '-o',
    'jsonpath={.items[*].status.containerStatuses[*].restartCount}',
  ]);
  assert.equal(restarts, '0 0');

  await using again = cluster.console('one');
  await again.login();
  assert.ok(Number((await again.command('cat /proc/uptime')).split(' ')[0]) > 5);
  await cluster.must('virtctl', ['stop', 'one']);
  await cluster.untilGone('vmi/one');
  assert.equal(cluster.guestPids().length, 1);
});

test('what dies of itself is started again: QEMU of a guest, and the cluster', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  await cluster.must('kubectl', ['apply', '-f', '-'], { input: JSON.stringify(NOTHING_TO_BOOT) });
  await cluster.until('vm/hello', '.status.ready', 'true');

  await t.test('a guest whose QEMU is killed fails, says why, and is started again', async () => {
    const uid = await cluster.field('vmi', 'hello', '.metadata.uid');
    const [guest = 0] = cluster.guestPids();
    process.kill(guest, 'SIGKILL');
    // It is as ready as it was until it is told.
    await cluster.until('vm/hello', '.status.conditions[?(@.type=="LastShutdown")].reason', 'QEMUExited');
    await cluster.untilReplaced('hello', uid);
    assert.equal(cluster.guestPids().length, 1);
    const events = await cluster.must('kubectl', [
      'get',
      'events',
      '--field-selector',
      'involvedObject.kind=VirtualMachineInstance,reason=Stopped,type=Warning',
      '-o',
      'jsonpath={.items[*].message}',
    ]);
    assert.match(events, /crash|kill|ended/i);
  });

  await t.test('a cluster that dies is started again by itself, and its guest is adopted', async () => {
    const guests = cluster.guestPids();
    const before = cluster.pid();
    process.kill(before, 'SIGABRT'); // as V8 does when its heap is full
    while (!identify(cluster.pid()) || cluster.pid() === before) await new Promise((resolve) => setTimeout(resolve, 100));
    await cluster.until('vm/hello', '.status.printableStatus', 'Running');
    assert.deepEqual(cluster.guestPids(), guests);
    assert.match(await cluster.must('virtctl', ['status']), /^restarts +1, the last \S+ ago: it gave up \(signal 6\)/m);
  });

  await t.test('a cluster that an object ends can be served without controllers, and is a whole one again with the next up', async () => {
    const guests = cluster.guestPids();
    process.kill(cluster.pid(), 'SIGKILL');
    assert.match(await cluster.must('virtctl', ['up', '--without-controllers']), /the API alone/);
    assert.match(await cluster.must('virtctl', ['status']), /^controllers none/m);
    await cluster.must('kubectl', ['create', 'deployment', 'idle', '--image', 'nothing:1', '--replicas', '0']);
    await cluster.must('kubectl', ['delete', 'deployment', 'idle']);
    assert.deepEqual(cluster.guestPids(), guests);

    await cluster.must('virtctl', ['up']);
    await cluster.until('vm/hello', '.status.printableStatus', 'Running');
    assert.deepEqual(cluster.guestPids(), guests);
  });

  await cluster.must('virtctl', ['down']);
  assert.equal((await cluster.virtctl(['status'])).code, 3);
});

test('a guest whose cluster was ended by hand is shut down by virtctl down', async () => {
  await using cluster = await EmbeddedCluster.start();
  await cluster.must('kubectl', ['apply', '-f', 'examples/vm.yaml']);
  await cluster.until('vm/hello', '.status.ready', 'true');
  const pid = cluster.pid();
  process.kill(pid, 'SIGTERM');
  while (identify(pid)) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(cluster.guestPids().length, 1);

  assert.match(await cluster.must('virtctl', ['down', '--purge']), /1 shut down/);
  assert.deepEqual(cluster.guestPids(), []);
});
