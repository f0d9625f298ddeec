import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { addBusybox, BUSYBOX_IMAGE, skipContainers } from '../../src/control-plane/kubelet/containers/busybox.testing.ts';
import { until } from '../../src/testing/until.ts';
import { EmbeddedCluster } from './harness.ts';

/** One everywhere; and some that leave a node as soon as it is lost. */
const WORKLOADS = (['DaemonSet', 'Deployment'] as const).map((kind) => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name: kind.toLowerCase() },
  spec: {
    ...(kind === 'Deployment' && { replicas: 3 }),
    selector: { matchLabels: { app: kind } },
    template: {
      metadata: { labels: { app: kind } },
      spec: {
        terminationGracePeriodSeconds: 1,
        tolerations:
          kind === 'Deployment'
            ? [{ key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 }]
            : [],
        containers: [{ name: 'main', image: BUSYBOX_IMAGE, command: ['sleep', '100000'] }],
      },
    },
  },
}));

/** Guests alone: containers come and go with their node. */
function guests(cluster: EmbeddedCluster): number[] {
  return cluster.guestPids().filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('qemu-system'));
}

test('a cluster of three nodes: one is lost; a drained guest shuts down and comes back on another', async (t) => {
  await using cluster = await EmbeddedCluster.start({ nodes: 3 });
  const all = (await cluster.must('kubectl', ['get', 'nodes', '-o', 'jsonpath={.items[*].metadata.name}'])).split(' ').sort();
  const [lost = '', names] = [all.at(-1), all.slice(0, 2)];
  const other = (name: string) => names.find((each) => each !== name) ?? '';
  const skip = skipContainers();
  const nodesOf = async (app: string) => {
    const path = 'jsonpath={.items[*].spec.nodeName}';
    return (await cluster.must('kubectl', ['get', 'pods', '-l', `app=${app}`, '-o', path])).split(' ').sort();
  };

  await t.test('a DaemonSet is on every node; one node is cut off, and nobody has noticed yet', { skip }, async () => {
    await addBusybox(join(cluster.home, 'images'));
    await cluster.must('kubectl', ['apply', '-f', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: WORKLOADS }) });
    for (const name of ['daemonset/daemonset', 'deployment/deployment'])
      await cluster.must('kubectl', ['rollout', 'status', name, '--timeout=120s']);
    assert.deepEqual(await nodesOf('DaemonSet'), all);
    // Whichever node has none of the others would lose nothing.
    await cluster.must('kubectl', ['cordon', ...names]);
    await cluster.must('kubectl', ['rollout', 'restart', 'deployment/deployment']);
    await cluster.must('kubectl', ['rollout', 'status', 'deployment/deployment', '--timeout=120s']);
    await cluster.must('kubectl', ['uncordon', ...names]);
    const isThereAlone = async () => (await nodesOf('Deployment')).join() === [lost, lost, lost].join(); // the old Pods are gone, too
    await until(isThereAlone, `the Pods of the Deployment to be on ${lost} alone`);
  });
  await cluster.must('kubectl', ['cordon', lost]); // until it is missed, guests would be placed there
  await cluster.must('virtctl', ['node', 'kill', lost]);
  assert.match(await cluster.must('virtctl', ['node', 'ls']), new RegExp(`^${lost} +Ready,SchedulingDisabled \\(killed\\)`, 'm'));

  await t.test('each node has its share of the machine and its own addresses', async () => {
    assert.equal(all.length, 3);
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
    assert.equal(guests(cluster).length, 1);
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

  await t.test('the node that was cut off is missed, and its Pods have moved', { skip }, async () => {
    await cluster.until(`node/${lost}`, '.spec.taints[?(@.effect=="NoExecute")].key', 'node.kubernetes.io/unreachable');
    await cluster.must('kubectl', ['rollout', 'status', 'deployment/deployment', '--timeout=120s']);
    const { stdout } = await cluster.kubectl(['get', 'pods', '-l', 'app=Deployment', '-o', 'json']);
    const pods: { metadata: { deletionTimestamp?: string }; spec: { nodeName: string } }[] = JSON.parse(stdout).items;
    const places = pods.map(
      ({ metadata, spec }) => `${spec.nodeName === lost ? 'lost' : 'elsewhere'} ${metadata.deletionTimestamp ? 'going' : 'there'}`,
    );
    assert.deepEqual(places.sort(), [...Array(3).fill('elsewhere there'), ...Array(3).fill('lost going')]);
    await cluster.must('virtctl', ['node', 'start', lost]);
    await cluster.must('kubectl', [
      'wait',
      'pods',
      '-l',
      'app=Deployment',
      `--field-selector=spec.nodeName=${lost}`,
      '--for=delete',
      '--timeout=60s',
    ]);
    await cluster.must('kubectl', ['rollout', 'status', 'daemonset/daemonset', '--timeout=120s']);
    assert.deepEqual(await nodesOf('DaemonSet'), all);
  });

  await t.test('a cluster keeps its nodes: after kill -9 the guests of all are adopted', async () => {
    const pids = guests(cluster);
    process.kill(cluster.pid(), 'SIGKILL');
    assert.match(await cluster.must('virtctl', ['up']), new RegExp(`${all.join(', ')}`));
    await cluster.until('vm/hello', '.status.printableStatus', 'Running');
    assert.deepEqual(guests(cluster), pids);
  });
});
