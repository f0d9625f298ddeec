import assert from 'node:assert/strict';
import { existsSync, readFileSync, readlinkSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { identify, isSameProcess, type ProcessIdentity, signalProcess } from '../../src/base/node/process-identity.ts';
import { EmbeddedCluster } from './harness.ts';

type Kept = { readonly holder: ProcessIdentity; readonly pasta: ProcessIdentity };

const networkOf = (pid: number) => readlinkSync(`/proc/${pid}/ns/net`);
const keptBy = ({ home }: EmbeddedCluster): Kept => JSON.parse(readFileSync(join(home, 'run/network.json'), 'utf8'));
const ended = async (pid: number) => {
  while (identify(pid)) await new Promise((resolve) => setTimeout(resolve, 20));
};

test('of several ups at once the first starts the cluster and the others find it running', async () => {
  await using cluster = new EmbeddedCluster();
  const results = await Promise.all([1, 2, 3].map(() => cluster.virtctl(['up'])));
  for (const { code, stdout, stderr } of results) assert.equal(code, 0, stdout + stderr);
  assert.equal(results.filter(({ stdout }) => /, was running/.test(stdout)).length, 2);
  assert.match(await cluster.must('virtctl', ['status']), /running for/);
  const { holder, pasta } = keptBy(cluster);
  await cluster.must('virtctl', ['down']);
  await Promise.all([ended(holder.pid), ended(pasta.pid)]);
});

test('an up whose predecessor was killed halfway finds the cluster that it had begun', async () => {
  await using cluster = new EmbeddedCluster();
  const first = cluster.virtctl(['up'], { timeoutMs: 1_500 }); // then it is ended by a signal, long before the cluster serves
  await first;
  const { code, stdout, stderr } = await cluster.virtctl(['up']);
  assert.equal(code, 0, stdout + stderr);
  assert.match(await cluster.must('virtctl', ['status']), /running for/);
});

test('running guests keep their network, whatever happens to the cluster', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  if (!cluster.hasNetwork()) return t.skip('no network namespaces here');
  await cluster.must('kubectl', ['apply', '-f', 'examples/vm.yaml']);
  await cluster.until('vm/hello', '.status.ready', 'true');
  await using console = cluster.console('hello');
  await console.expect(/guest ready/);
  const [guest = 0] = cluster.guestPids();
  await cluster.must('virtctl', ['expose', 'vm', 'hello', '--name', 'hello', '--port', '80']);
  const reach = async () => {
    for (let tries = 0; ; tries += 1) {
      const { code, stdout, stderr } = await cluster.kubectl(['get', '--raw', '/api/v1/namespaces/default/services/hello:80/proxy/']);
      if (code === 0) return stdout;
      if (tries === 20) throw new Error(stderr);
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  };
  const page = await reach();
  const kept = keptBy(cluster);
  const store = join(cluster.home, 'store.db');

  await t.test('an up that fails after a clean stop does not close it', async () => {
    const pid = cluster.pid();
    process.kill(pid, 'SIGTERM');
    await ended(pid);
    renameSync(store, `${store}.whole`);
    writeFileSync(store, 'damaged '.repeat(1000));
    assert.match((await cluster.virtctl(['up'])).stderr, /STORE_DAMAGED/);
    assert.deepEqual([kept.holder, kept.pasta].map(isSameProcess), [true, true]);
    renameSync(`${store}.whole`, store);
    await cluster.must('virtctl', ['up']);
    assert.equal(networkOf(cluster.pid()), networkOf(guest));
    assert.equal(await reach(), page);
  });

  await t.test('an up that finds the network without its keepers joins the guests', async () => {
    signalProcess(kept.pasta, 'SIGKILL');
    await ended(kept.pasta.pid);
    assert.match((await cluster.virtctl(['doctor'])).stdout, /✗ network .*pasta.*has ended/);
    const pid = cluster.pid();
    process.kill(pid, 'SIGTERM');
    await ended(pid);
    signalProcess(kept.holder, 'SIGKILL', 'group');
    await ended(kept.holder.pid);
    await cluster.must('virtctl', ['up']);
    assert.equal(networkOf(cluster.pid()), networkOf(guest));
    assert.equal(await reach(), page);
    assert.match((await cluster.virtctl(['doctor'])).stdout, /✓ guests/);
  });

  await cluster.must('virtctl', ['down']);
  assert.equal(existsSync(join(cluster.home, 'run/network.json')), false);
});
