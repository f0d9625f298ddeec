import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { identify } from '../../src/base/node/process-identity.ts';
import { until } from '../../src/testing/until.ts';
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

test('a machine that ran when the cluster was taken down runs again when it comes up, and is reached where it was', async (t) => {
  await using cluster = new EmbeddedCluster();
  const folder = mkdtempSync(join(tmpdir(), 'project-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const env = { KUBECONFIG: join(folder, 'config') };
  const theirs = 'apiVersion: v1\nkind: Config\ncurrent-context: work # by hand\ncontexts: [{name: work, context: {cluster: work}}]\n';
  writeFileSync(env.KUBECONFIG, theirs);
  copyFileSync('examples/vm.yaml', join(folder, 'vm.yaml'));

  const said = await cluster.must('virtctl', ['up', '--merge', '-f', join(folder, 'vm.yaml')], { env });
  assert.match(said, /✓ kubectl +context kubevirt-ts put into .*config \(kubectl --context kubevirt-ts\)/);
  assert.match(said, /✓ apply +VirtualMachine hello created/);
  const contexts = ['--kubeconfig', env.KUBECONFIG, 'config', 'get-contexts', '-o', 'name'];
  assert.deepEqual((await cluster.must('kubectl', contexts)).trim().split('\n').sort(), ['kubevirt-ts', 'work']);
  const byContext = ['--kubeconfig', env.KUBECONFIG, '--context', 'kubevirt-ts', 'get', 'vm', 'hello', '-o', 'name'];
  assert.equal(await cluster.must('kubectl', byContext), 'virtualmachine.kubevirt.io/hello\n');
  await cluster.until('vm/hello', '.status.printableStatus', 'Running');
  const uid = await cluster.field('vmi', 'hello', '.metadata.uid');
  const hasNetwork = cluster.hasNetwork();
  const port = await freePort();
  if (hasNetwork) await cluster.must('virtctl', ['expose', 'hello', '--port', '80', '--host-port', String(port)]);

  await cluster.must('virtctl', ['down']);
  assert.deepEqual(cluster.guestPids(), []);

  assert.match(await cluster.must('virtctl', ['up', '-f', join(folder, 'vm.yaml')]), /✓ apply +VirtualMachine hello configured/);
  await cluster.until('vm/hello', '.status.printableStatus', 'Running');
  assert.notEqual(await cluster.field('vmi', 'hello', '.metadata.uid'), uid);
  if (!hasNetwork) t.diagnostic('no namespace here: Services have no addresses');
  else {
    assert.match(await cluster.must('virtctl', ['ls']), new RegExp(`^hello .*http://127\\.0\\.0\\.1:${port}\\b`, 'm'));
    await using console = cluster.console('hello');
    await console.expect(/guest ready/);
    await until(() => isServed(port), 'the page of the guest, at the port of before');
  }
  await cluster.must('virtctl', ['down', '--purge'], { env });
  assert.equal(readFileSync(env.KUBECONFIG, 'utf8').includes('kubevirt-ts'), false);
  assert.match(readFileSync(env.KUBECONFIG, 'utf8'), /current-context: work # by hand/);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens
  server.close();
  await once(server, 'close');
  return port;
}

async function isServed(port: number): Promise<boolean> {
  const text = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(5000) }).then(
    (response) => response.text(),
    () => '',
  );
  return /Hello from a virtual machine/.test(text);
}
