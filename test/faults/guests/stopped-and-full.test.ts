/** The embedded process, a guest, or both are stopped for a while, as by a machine that sleeps; then it has no descriptor left; then its heap gets full. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { identify } from '../../../src/base/node/process-identity.ts';
import { loadKubeconfig } from '../../../src/client/node/kubeconfig.ts';
import { EmbeddedCluster } from '../../e2e/harness.ts';
import { countLines, lineWriter } from './numbered-lines.ts';

/** More than a node may be silent in `npm run test:soak`. */
const STOPPED_SECONDS = Number(process.env['STOPPED_SECONDS'] ?? 2);
const LOOK_EVERY_MS = 100;
const NAME = 'sleeper';
/** Enough for a cluster with a guest, and soon full. */
const HEAP = '--max-old-space-size=112';
const LARGE = 900_000;
const WATCHES = 8;

test(`stopped for ${STOPPED_SECONDS} s, out of descriptors or out of memory: the same guest runs on, nothing is restarted, and leases go on`, {
  timeout: 600_000 + STOPPED_SECONDS * 10_000,
}, async (t) => {
  await using cluster = new EmbeddedCluster();
  await cluster.must('virtctl', ['up'], { env: { NODE_OPTIONS: HEAP } });
  await cluster.must('kubectl', ['create', '-f', '-'], {
    input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: lineWriter(NAME) }),
  });
  await cluster.until(`vm/${NAME}`, '.status.ready', 'true');
  const disk = join((await cluster.must('kubectl', ['get', 'pv', '-o', 'jsonpath={.items[0].spec.hostPath.path}'])).trim(), 'disk.img');
  const moreLines = async () => {
    for (const before = countLines(disk, NAME); countLines(disk, NAME) <= before; ) await systemClock.sleep(LOOK_EVERY_MS);
  };
  await moreLines();
  const before = await factsOf(cluster);
  const embedded = cluster.pid();
  const [guest = 0] = cluster.guestPids();

  const renewed = await renewTimes(cluster);
  for (const [who, pids] of Object.entries({ cluster: [embedded], guest: [guest], both: [embedded, guest] })) {
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    await systemClock.sleep(STOPPED_SECONDS * 1_000); // the wait is what is tested
    for (const pid of pids.toReversed()) process.kill(pid, 'SIGCONT');
    await cluster.until(`vm/${NAME}`, '.status.printableStatus', 'Running');
    await moreLines();
    assert.deepEqual(await factsOf(cluster), before, who);
    assert.deepEqual([cluster.pid(), cluster.guestPids()], [embedded, [guest]], who);
  }

  while ((await renewTimes(cluster)) === renewed) await systemClock.sleep(LOOK_EVERY_MS);

  await starveOfDescriptors(cluster, moreLines);
  await cluster.until(`vm/${NAME}`, '.status.printableStatus', 'Running');
  assert.deepEqual([await factsOf(cluster), cluster.pid(), cluster.guestPids()], [before, embedded, [guest]], 'without descriptors');

  const patches = await fillHeap(t, cluster);
  while (!identify(cluster.pid()) || cluster.pid() === embedded) await systemClock.sleep(LOOK_EVERY_MS);
  await cluster.until(`vm/${NAME}`, '.status.printableStatus', 'Running');
  await moreLines();
  t.diagnostic(`stopped three times for ${STOPPED_SECONDS} s; heap full after ${patches} large writes; ${countLines(disk, NAME)} lines`);
  assert.deepEqual([await factsOf(cluster), cluster.guestPids()], [before, [guest]]);
  assert.match(await cluster.must('virtctl', ['status']), /^restarts +1, the last \S+ ago: it gave up \(signal 6\)/m);
});

/** What would tell of a restart or of a silence that was noticed. */
async function factsOf(cluster: EmbeddedCluster): Promise<string[]> {
  const read = (args: string[], path: string) => cluster.must('kubectl', ['get', ...args, '-o', `jsonpath=${path}`]);
  return [
    await read(['vmi', NAME], '{.metadata.uid} {.status.phase} {.status.phaseTransitionTimestamps}'),
    await read(['pods', '-l', 'kubevirt.io=virt-launcher'], '{.items[*].status.containerStatuses[*].restartCount}'),
    await read(['events', '--field-selector', 'reason=NodeNotReady'], '{.items[*].message}'),
    await read(['nodes'], '{.items[*].spec.taints}'),
  ];
}

function renewTimes(cluster: EmbeddedCluster): Promise<string> {
  return cluster.must('kubectl', ['get', 'leases', '-n', 'kube-node-lease', '-o', 'jsonpath={.items[*].spec.renewTime}']);
}

/** No part of the control plane can open a file or take a connection for a while, in which the guest goes on. */
async function starveOfDescriptors(cluster: EmbeddedCluster, moreLines: () => Promise<void>): Promise<void> {
  const limit = (value: string) => execFileSync('prlimit', ['--pid', String(cluster.pid()), `--nofile=${value}`]);
  const [, before = ''] = /open files\s+(\d+)/.exec(readFileSync(`/proc/${cluster.pid()}/limits`, 'utf8')) ?? [];
  limit('0:'); // those that are open stay open
  const { code } = await cluster.kubectl(['get', 'vms', '--request-timeout=2s']);
  assert.notEqual(code, 0, 'a new connection is taken, though there is no descriptor for it');
  await moreLines();
  limit(`${before}:`);
  assert.match(await cluster.must('kubectl', ['get', 'vms']), new RegExp(NAME));
}

/** Watches that nobody reads, and large changes for them, until nobody answers: how many changes that took. */
async function fillHeap(t: TestContext, cluster: EmbeddedCluster): Promise<number> {
  const { server, ...tls } = loadKubeconfig(join(cluster.home, 'kubeconfig'));
  const maps = '/api/v1/namespaces/default/configmaps';
  const ask = (method: string, path: string, body = '') =>
    new Promise<{ status: number; end: () => void }>((resolve) => {
      const options = {
        ...tls,
        method,
        headers: { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' },
      };
      const asked = request(`${server}${path}`, options, (answer) => {
        const done = { status: answer.statusCode ?? 0, end: () => asked.destroy() };
        if (path.includes('watch=')) return resolve(done);
        answer.resume().on('close', () => resolve(done));
      });
      asked.on('error', () => resolve({ status: 0, end: () => {} }));
      asked.end(body);
    });
  for (let n = 0; n < WATCHES; n += 1) {
    await ask('POST', maps, JSON.stringify({ metadata: { name: `large-${n}` } }));
    const watch = await ask('GET', `${maps}?watch=1&fieldSelector=metadata.name%3Dlarge-${n}`);
    t.after(watch.end);
  }
  for (let count = 0; ; count += 1) {
    const text = String(count).padEnd(LARGE, String(count));
    const { status } = await ask('PATCH', `${maps}/large-${count % WATCHES}`, JSON.stringify({ data: { text } }));
    if (status === 0) return count;
    assert.ok(status === 200 && count < 2_000, `${count} changes, and the last was answered with ${status}`);
  }
}
