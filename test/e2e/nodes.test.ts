import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EmbeddedCluster } from './harness.ts';

test('a cluster of two nodes: a drained guest shuts down and comes back on the other', async (t) => {
  await using cluster = await EmbeddedCluster.start({ nodes: 2 });
  const names = (await cluster.must('kubectl', ['get', 'nodes', '-o', 'jsonpath={.items[*].metadata.name}'])).split(' ').sort();
  const other = (name: string) => names.find((each) => each !== name) ?? '';

  await t.test('each node has its share of the machine and its own addresses', async () => {
    assert.equal(names.length, 2);
    const field = (path: string) => Promise.all(names.map((name) => cluster.field('node', name, path)));
    const [memory, again] = await field('.status.capacity.memory');
    assert.equal(memory, again);
    assert.equal(new Set(await field('.spec.podCIDR')).size, 2);
    assert.deepEqual(await field('.metadata.labels.kubevirt\\.io/schedulable'), ['true', 'true']);
  });

  await cluster.must('kubectl', ['apply', '-f', 'examples/vm.yaml']);
  await cluster.until('vm/hello', '.status.ready', 'true');
  const node = await cluster.field('vmi', 'hello', '.status.nodeName');
  const uid = await cluster.field('vmi', 'hello', '.metadata.uid');

  await t.test('kubectl drain asks the guest to power off, and its strategy starts it on the other node', async () => {
    await using console = cluster.console('hello');
    await console.expect(/guest ready/);
    const drained = cluster.must('kubectl', ['drain', node, '--delete-emptydir-data', '--ignore-daemonsets', '--timeout=120s'], {
      timeoutMs: 130_000,
    });
    await console.expect(/guest is powering off/);
    assert.match(await drained, new RegExp(`node/${node} drained`));
    await cluster.until('vmi/hello', '.status.nodeName', other(node));
    await cluster.until('vm/hello', '.status.ready', 'true');
    assert.notEqual(await cluster.field('vmi', 'hello', '.metadata.uid'), uid);
    assert.equal(cluster.guestPids().length, 1);
    const told = await cluster.field('vm', 'hello', '.status.conditions[?(@.type=="LastShutdown")].reason');
    assert.equal(told, 'PodDeleted');
  });

  await t.test('its console and its log come from there', async () => {
    await using console = cluster.console('hello');
    await console.login();
    assert.equal(await console.command('hostname'), 'hello');
    const pod = (await cluster.must('kubectl', ['get', 'pods', '-l', 'vm.kubevirt.io/name=hello', '-o', 'name'])).trim();
    await cluster.must('kubectl', ['logs', pod]);
  });

  await t.test('with every node closed it waits, and says why', async () => {
    await cluster.must('kubectl', ['cordon', ...names]);
    await cluster.must('kubectl', ['delete', 'vmi', 'hello']);
    await cluster.until('vm/hello', '.status.printableStatus', 'ErrorUnschedulable');
    assert.match(await cluster.must('virtctl', ['why', 'hello']), /every node is closed/);
    await cluster.must('kubectl', ['uncordon', node]);
    await cluster.until('vmi/hello', '.status.nodeName', node);
    await cluster.until('vm/hello', '.status.ready', 'true');
  });

  await t.test('a cluster keeps its nodes: after kill -9 the guests of both are adopted', async () => {
    const pids = cluster.guestPids();
    process.kill(cluster.pid(), 'SIGKILL');
    assert.match(await cluster.must('virtctl', ['up']), new RegExp(`${names.join(', ')}`));
    await cluster.until('vm/hello', '.status.printableStatus', 'Running');
    assert.deepEqual(cluster.guestPids(), pids);
  });
});
