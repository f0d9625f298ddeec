/** Machines made by vmctl Pods of a Deployment and of a DaemonSet, on three nodes: examples/vmctl as it is. */
import assert from 'node:assert/strict';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '../../../src/api/core/pod.ts';
import { VMS } from '../../../src/api/kubevirt/kinds/virtual-machine.ts';
import { VMCTL_IMAGE } from '../product-cluster.ts';
import { pushAs, pushGuest } from '../push-images.ts';
import { eventually, type World } from './world.ts';

const EXAMPLES = resolve(import.meta.dirname, '../../../examples/vmctl');
const CONNECTIONS = 100;
/** More at once the web server of the guest, one small program, loses by itself. */
const AT_ONCE = 4;
/** So many answers in a row that each of three machines gave one, but for once in a thousand. */
const ENOUGH_FOR_EACH = 20;

export function vmctlScenarios(world: World): void {
  const applyExamples = (...names: string[]) => world.kubectl('apply', ...names.flatMap((name) => ['-f', join(EXAMPLES, `${name}.yaml`)]));
  const derived = async () =>
    (await world.cluster.client.list(VMS, { namespace: world.namespace })).items.filter(({ metadata }) => metadata.name !== 'testvm');
  const nodeOf = ({ spec }: Pod) => spec.nodeName ?? '';
  /** Every vmctl Pod of a workload has a machine that runs on its own node, and there is no other machine. */
  const eachPodHasItsMachine = async (of: string): Promise<readonly Pod[]> => {
    const pods = await world.pods(`of=${of}`);
    for (const pod of pods) assert.equal((await world.vmi(`testvm-${pod.metadata.name}`)).status?.nodeName, nodeOf(pod));
    const expected = pods.map(({ metadata }) => `testvm-${metadata.name}`).sort();
    assert.deepEqual((await derived()).map(({ metadata }) => metadata.name).sort(), expected);
    return pods;
  };
  const leavesNothing = () => eventually(async () => assert.deepEqual(await derived(), []));

  describe('machines made by vmctl on three nodes', () => {
    before(async () => {
      await pushAs(world.cluster, VMCTL_IMAGE, 'kubevirt-ts/vmctl:latest');
      await pushGuest(world.cluster, 'tiny', 'guests/tiny:latest');
      await applyExamples('prototype', 'rbac', 'service');
    });
    after(() =>
      world.kubectl(
        'delete',
        '-f',
        join(EXAMPLES, 'service.yaml'),
        '-f',
        join(EXAMPLES, 'rbac.yaml'),
        '-f',
        join(EXAMPLES, 'prototype.yaml'),
      ),
    );

    test('three replicas of a Deployment have three machines, each on the node of its Pod', async () => {
      await applyExamples('deployment');
      await world.kubectl('rollout', 'status', 'deployment/vmctl', '--timeout=400s');
      assert.equal((await eachPodHasItsMachine('vmctl')).length, 3);
    });

    test(`of ${CONNECTIONS} connections to their Service none is refused`, async () => {
      const address = await world.kubectl('get', 'service', 'my-service', '-o', 'jsonpath={.spec.clusterIP}');
      const ask = async () => {
        const answer = await fetch(`http://${address}/`, { headers: { connection: 'close' }, signal: AbortSignal.timeout(180_000) });
        assert.match(await answer.text(), /Hello from a virtual machine/);
      };
      // Node 1, through which this machine goes, hears of the endpoints a moment after us; and a machine without a probe is ready before its web server.
      await eventually(async () => {
        for (let answers = 0; answers < ENOUGH_FOR_EACH; answers++) await ask();
      });
      for (let asked = 0; asked < CONNECTIONS; asked += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, ask));
    });

    test('a machine goes with its Pod when the Deployment shrinks, and all of them with the Deployment', async () => {
      await world.kubectl('scale', 'deployment/vmctl', '--replicas=1');
      await eventually(async () => assert.equal((await eachPodHasItsMachine('vmctl')).length, 1));
      await world.kubectl('delete', 'deployment', 'vmctl');
      await leavesNothing();
    });

    test('a DaemonSet has a machine on every node, and leaves none', async () => {
      await applyExamples('daemonset');
      await world.kubectl('rollout', 'status', 'daemonset/vmctl-per-node', '--timeout=400s');
      const pods = await eachPodHasItsMachine('vmctl-per-node');
      assert.deepEqual(pods.map(nodeOf).sort(), ['node1', 'node2', 'node3']);
      await world.kubectl('delete', 'daemonset', 'vmctl-per-node');
      await leavesNothing();
    });
  });
}
