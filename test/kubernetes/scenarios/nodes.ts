/** What happens to guests when something happens to their node. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventually, type World } from './world.ts';

/** A machine that starts on this node, and may be elsewhere when that cannot be. */
function preferring(node: string): object {
  const preference = { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] };
  return { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, preference }] } } };
}

const COMPONENTS = ['deployment/virt-api', 'deployment/virt-controller', 'daemonset/virt-handler'];

export function nodeScenarios(shared: World): void {
  const world = shared.in('nodes');
  const system = shared.in('kubevirt');
  const nodeOf = async (name: string) => (await world.vmi(name)).status?.nodeName;
  const componentsAreReady = async () => {
    for (const each of COMPONENTS) await system.kubectl('rollout', 'status', each, '--timeout=400s');
  };
  const startOn = async (name: string, node: string) => {
    // The API server may still ask a virt-api that went with a node.
    await eventually(() => world.apply(world.machine(name, { spec: preferring(node) })));
    await world.untilReady(name);
    assert.equal(await nodeOf(name), node);
  };

  describe('guests and their nodes', () => {
    before(() => world.makeNamespace());
    after(() => shared.kubectl('delete', 'namespace', 'nodes', '--timeout=400s'));

    test('a guest notices nothing when kubelet and containerd of its node are killed', async () => {
      await startOn('steady', 'node2');
      const [bootId, { metadata }] = [await world.bootIdOf('steady'), await world.vmi('steady')];
      await world.cluster.restart('node2', 'containerd');
      await world.cluster.restart('node2', 'kubelet');
      await world.cluster.untilReady();
      assert.equal(await eventually(() => world.bootIdOf('steady')), bootId);
      const now = await world.vmi('steady');
      assert.deepEqual([now.metadata.uid, now.status?.phase], [metadata.uid, 'Running']);
      await world.untilReady('steady');
      await componentsAreReady();
    });

    test('a drain asks the guest to power off, and its machine starts on another node', async () => {
      const first = await world.vmi('steady');
      await world.kubectl('drain', 'node2', '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=400s');
      await eventually(async () => assert.notEqual((await world.vmi('steady')).metadata.uid, first.metadata.uid));
      await world.untilReady('steady');
      assert.notEqual(await nodeOf('steady'), 'node2');
      const told = (await world.vm('steady')).status?.conditions?.find(({ type }) => type === 'LastShutdown');
      assert.equal(told?.reason, 'PodDeleted');
      await world.kubectl('uncordon', 'node2');
      await componentsAreReady();
      await world.kubectl('delete', 'vm', 'steady', '--timeout=400s');
    });

    test('a guest of a node that is lost is Unknown, and is not started elsewhere before its Pod is gone for certain', async () => {
      await startOn('fenced', 'node3');
      const first = await world.launcherOf('fenced');
      await world.cluster.crashNode('node3');
      await world.cluster.untilNotReady('node3');
      await world.until('vm/fenced', '.status.printableStatus', 'Unknown');
      await world.until('vm/fenced', '.status.ready', 'false');
      // The way in which an administrator, or a program for it, says that the node is really off.
      const taint = 'node.kubernetes.io/out-of-service=off:NoExecute';
      assert.equal((await world.launcherOf('fenced')).metadata.uid, first.metadata.uid);
      await world.kubectl('taint', 'node', 'node3', taint);
      let most = 0;
      await eventually(async () => {
        const pods = await world.pods('vm.kubevirt.io/name=fenced');
        most = Math.max(most, pods.length);
        assert.ok(pods.some(({ metadata }) => metadata.uid !== first.metadata.uid));
      });
      assert.equal(most, 1, 'Pods of one machine at a time');
      await world.untilReady('fenced');
      assert.notEqual(await nodeOf('fenced'), 'node3');
      await world.kubectl('taint', 'node', 'node3', `${taint}-`);
    });

    test('a node that comes back takes guests again, and those that a reboot ended start anew', async () => {
      await world.cluster.rebootNode('node3');
      await world.cluster.untilReady();
      await componentsAreReady();
      await world.until('node/node3', '.metadata.labels.kubevirt\\.io/schedulable', 'true');
      await startOn('again', 'node3');
      const { uid } = (await world.vmi('again')).metadata;
      await world.cluster.rebootNode('node3');
      await eventually(async () => assert.notEqual((await world.vmi('again')).metadata.uid, uid));
      await world.untilReady('again');
      await world.cluster.untilReady();
      await componentsAreReady();
    });
  });
}
