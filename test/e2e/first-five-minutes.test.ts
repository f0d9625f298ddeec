import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { identify } from '../../src/base/node/process-identity.ts';
import { EmbeddedCluster } from './harness.ts';

test('one command boots a first machine, another shows it, a third leaves nothing behind', async () => {
  await using cluster = new EmbeddedCluster();

  const first = await cluster.must('virtctl', ['up', '--demo'], { timeoutMs: 240_000 });
  for (const step of ['host', 'qemu', 'control', 'image', 'vm']) assert.match(first, new RegExp(`[✓!] ${step} .*\\d\\.\\ds`));
  assert.match(first, /hello is running and waits at its login prompt/);
  assert.match(first, /KUBECONFIG/);

  const again = await cluster.must('virtctl', ['up', '--demo'], { timeoutMs: 30_000 });
  assert.match(again, /control .*was running/);
  assert.match(again, /hello is running/);

  assert.match(await cluster.must('virtctl', ['status']), /default\/hello +Running/);
  assert.equal((await cluster.must('virtctl', ['kubeconfig'])).trim(), `${cluster.home}/kubeconfig`);
  assert.equal(cluster.guestPids().length, 1);

  // Off a terminal, in the forms that people type: nobody is asked for a password or about a key.
  const file = join(cluster.home, 'note.txt');
  writeFileSync(file, 'from here\n');
  await cluster.must('virtctl', ['cp', file, 'hello:/tmp/note']);
  assert.equal(await cluster.must('virtctl', ['ssh', 'hello', 'cat', '/tmp/note']), 'from here\n');

  const pid = cluster.pid();
  await cluster.must('virtctl', ['down', '--purge']);
  assert.deepEqual(cluster.guestPids(), []);
  assert.equal(identify(pid), undefined);
  assert.equal(existsSync(cluster.home), false);
});

test('a machine that ran when the cluster was taken down runs again when it comes up', async () => {
  await using cluster = await EmbeddedCluster.start();
  await cluster.must('kubectl', ['apply', '-f', 'examples/vm.yaml']);
  await cluster.until('vm/hello', '.status.printableStatus', 'Running');
  const uid = await cluster.field('vmi', 'hello', '.metadata.uid');

  await cluster.must('virtctl', ['down']);
  assert.deepEqual(cluster.guestPids(), []);

  await cluster.must('virtctl', ['up']);
  await cluster.until('vm/hello', '.status.printableStatus', 'Running');
  assert.notEqual(await cluster.field('vmi', 'hello', '.metadata.uid'), uid);
});
