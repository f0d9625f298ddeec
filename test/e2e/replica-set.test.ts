import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { addBusybox, skipContainers } from '../../src/control-plane/kubelet/containers/busybox.testing.ts';
import { BUSYBOX_IMAGE } from '../../tools/kubernetes/image-store.ts';
import { EmbeddedCluster } from './harness.ts';

/** A machine outside of a real cluster is this one; embedded, it depends on the network of this one whether anybody outside answers. */
const isReal = process.env['E2E_REAL_CLUSTER'] !== undefined;

test('a replica set of real guests: scaled, paused, healed, with what an autoscaler reads', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  const noContainers = !isReal && skipContainers();
  if (!isReal && !noContainers) await addBusybox(join(cluster.home, 'images'), { reference: BUSYBOX_IMAGE });
  if (!noContainers) await cluster.must('kubectl', ['run', 'plain', `--image=${BUSYBOX_IMAGE}`, '--command', '--', 'sleep', '3600']);
  const vmis = async () =>
    (await cluster.must('kubectl', ['get', 'vmi', '-l', 'app=web', '-o', 'name'])).trim().split('\n').filter(Boolean);

  await t.test('it makes the guests and tells how many are ready', async () => {
    await cluster.must('kubectl', ['apply', '-f', 'examples/replica-set.yaml']);
    await cluster.until('vmirs/web', '.status.readyReplicas', '2');
    assert.match(await cluster.must('kubectl', ['get', 'vmirs']), /NAME +DESIRED +CURRENT +READY +AGE\nweb +2 +2 +2 /);
  });

  await t.test('the scale subresource has the selector that finds its Pods', async () => {
    const scale = JSON.parse(
      await cluster.must('kubectl', [
        'get',
        '--raw',
        `/apis/kubevirt.io/v1/namespaces/${cluster.namespace}/virtualmachineinstancereplicasets/web/scale`,
      ]),
    );
    assert.deepEqual([scale.spec.replicas, scale.status.replicas, scale.status.selector], [2, 2, 'app=web']);
    const pods = await cluster.must('kubectl', ['get', 'pods', '-l', scale.status.selector, '-o', 'name']);
    assert.equal(pods.trim().split('\n').length, 2);
  });

  await t.test(
    'its guests, a plain Pod, their node and who is outside answer a guest’s pings, and a port where nobody listens refuses',
    async (t) => {
      if (!cluster.hasNetwork()) return t.skip('no namespace here: guests have no way out');
      const [from = '', to = ''] = (await vmis()).map((name) => name.replace(/^.*\//, ''));
      await using console = cluster.console(from);
      await console.login();
      const node = await cluster.field('vmi', from, '.status.nodeName');
      const addresses = [
        await cluster.field('vmi', to, '.status.interfaces[0].ipAddress'),
        await cluster.field('node', node, '.status.addresses[?(@.type=="InternalIP")].address'),
      ];
      if (!noContainers) {
        await cluster.untilCondition('pod/plain', 'Ready');
        addresses.push(await cluster.field('pod', 'plain', '.status.podIP'));
      }
      if (isReal)
        addresses.push(
          new URL(await cluster.must('kubectl', ['config', 'view', '--minify', '-o', 'jsonpath={.clusters[0].cluster.server}'])).hostname,
        );
      for (const address of addresses)
        assert.match(await console.command(`ping -c 2 -W 20 ${address}`), / 0% packet loss/, `${from} to ${address}`);
      assert.match(await console.command(`wget -q -O - http://${addresses[0]}:12345/ || echo refused`), /refused$/);
      const { code, stderr } = await cluster.virtctl(['port-forward', '--stdio', `vmi/${from}`, '12345']);
      assert.notEqual(code, 0);
      assert.match(stderr, /port 12345 of the guest \S+: the guest refused the connection/);
    },
  );

  await t.test('an instance that is deleted is replaced', async () => {
    const [first = ''] = await vmis();
    await cluster.must('kubectl', ['delete', first]);
    await cluster.until('vmirs/web', '.status.readyReplicas', '2');
    assert.equal((await vmis()).includes(first), false);
  });

  await t.test('a paused set does not scale, and goes on afterwards', async () => {
    await cluster.must('kubectl', ['patch', 'vmirs', 'web', '--type', 'merge', '-p', '{"spec":{"paused":true}}']);
    await cluster.until('vmirs/web', '.status.conditions[?(@.type=="ReplicaPaused")].status', 'True');
    await cluster.must('kubectl', ['scale', 'vmirs/web', '--replicas=1']);
    assert.equal((await vmis()).length, 2);
    await cluster.must('kubectl', ['patch', 'vmirs', 'web', '--type', 'merge', '-p', '{"spec":{"paused":false}}']);
    await cluster.until('vmirs/web', '.status.replicas', '1');
  });

  await t.test('deleting it takes its guests along', async () => {
    await cluster.must('kubectl', ['delete', 'pod', 'plain', '--ignore-not-found', '--grace-period=0', '--force']);
    await cluster.must('kubectl', ['delete', 'vmirs', 'web']);
    for (const each of await vmis()) await cluster.untilGone(each);
    assert.deepEqual([await vmis(), cluster.guestPids()], [[], []]);
  });
});
