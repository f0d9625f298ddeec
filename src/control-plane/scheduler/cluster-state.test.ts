import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Pod } from '../../api/core/pod.ts';
import { requestsOf, totalOf } from '../../api/core/pod-resources.ts';
import { asking, node } from './builders.testing.ts';
import { ClusterState } from './cluster-state.ts';

const NODES = ['n1', 'n2', 'n3'];
const cpu = fc.constantFrom('100m', '250m', '333m', '1', '0.1', '1.7');
const memory = fc.constantFrom('128Mi', '1Gi', '1000k', '256Gi');
const requests = fc.record({ cpu, memory, 'devices.kubevirt.io/kvm': fc.constant('1') }, { requiredKeys: [] });
const uid = fc.integer({ min: 0, max: 9 }).map((n) => `uid-${n}`);
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('place' as const), uid, requests, nodeName: fc.constantFrom(...NODES) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('leave' as const), uid }) },
);

/** What is on each node, counted from nothing. */
function recount(placed: ReadonlyMap<string, { pod: Pod; nodeName: string }>, nodeName: string): Record<string, number> {
  const total = totalOf([...placed.values()].filter((each) => each.nodeName === nodeName).map(({ pod }) => requestsOf(pod)));
  return rounded(total);
}

function rounded(amounts: Readonly<Record<string, number>>): Record<string, number> {
  const entries = Object.entries(amounts).map(([name, amount]): [string, number] => [name, Math.round(amount * 1000) / 1000]);
  return Object.fromEntries(entries.filter(([, amount]) => amount !== 0));
}

test('what is used is what a count would give, after any Pods have come, changed, moved and left', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const state = new ClusterState();
      for (const name of NODES) state.setNode(node({ name }));
      const placed = new Map<string, { pod: Pod; nodeName: string }>();
      for (const each of steps) {
        const pod = asking(each.do === 'place' ? each.requests : {}, { uid: each.uid });
        if (each.do === 'place') {
          state.place(pod, each.nodeName);
          placed.set(each.uid, { pod, nodeName: each.nodeName });
        } else {
          state.leave(pod);
          placed.delete(each.uid);
        }
      }
      for (const [name, { used, pods }] of state.nodes) {
        assert.deepEqual(rounded(used), recount(placed, name));
        assert.deepEqual([...pods.keys()].sort(), [...placed].flatMap(([key, { nodeName }]) => (nodeName === name ? key : [])).sort());
      }
    }),
  );
});

test('what was added and taken off leaves no trace, not even a rounding error', () => {
  const state = new ClusterState();
  state.setNode(node());
  const pods = ['100m', '200m', '700m', '0.1'].map((amount, index) => asking({ cpu: amount }, { uid: `uid-${index}` }));
  for (const pod of pods) state.place(pod, 'n1');
  for (const pod of pods) state.leave(pod);
  assert.deepEqual(state.nodes.get('n1')?.used, { cpu: 0, pods: 0 });
});

test('Pods that are seen before their node count when it comes', () => {
  const state = new ClusterState();
  state.place(asking({ cpu: '1' }), 'n1');
  state.setNode(node());
  assert.deepEqual(state.nodes.get('n1')?.used, { cpu: 1, pods: 1 });
});

test('a node that comes back finds its Pods', () => {
  const state = new ClusterState();
  state.setNode(node());
  state.place(asking({ cpu: '1' }), 'n1');
  state.removeNode('n1');
  assert.equal(state.nodes.size, 0);
  state.setNode(node());
  assert.deepEqual(state.nodes.get('n1')?.used, { cpu: 1, pods: 1 });
});
