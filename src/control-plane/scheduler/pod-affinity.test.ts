import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Affinity } from '../../api/core/affinity.ts';
import type { Pod } from '../../api/core/pod.ts';
import { cluster, type NodeWithPods, node, pod, state } from './builders.testing.ts';
import { ClusterState } from './cluster-state.ts';
import { decideBinding } from './decide.ts';
import { affinityCheck } from './pod-affinity.ts';

const RACK = 'rack';
const anti = (app: string): Affinity => rule('podAntiAffinity', app);
const near = (app: string): Affinity => rule('podAffinity', app);
function rule(kind: 'podAffinity' | 'podAntiAffinity', app: string): Affinity {
  return { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: RACK, labelSelector: { matchLabels: { app } } }] } };
}

test('only Pods with anti-affinity are in the index, and leave it with their place', () => {
  const view = new ClusterState();
  const loner = pod({ affinity: anti('web') }, { uid: 'loner' });
  view.place(pod({ affinity: near('web') }, { uid: 'friend' }), 'n1');
  view.place(pod({}, { uid: 'plain' }), 'n1');
  view.place(loner, 'n1');
  assert.deepEqual([...view.repelling.keys()], ['loner']);
  view.place({ ...loner, spec: { ...loner.spec, affinity: undefined } }, 'n1');
  assert.deepEqual([...view.repelling.keys()], []);
  view.place(loner, 'n1');
  view.leave(loner);
  assert.deepEqual([...view.repelling.keys()], []);
});

test('who keeps others away does so in the whole rack, and nowhere else', () => {
  const racks = [
    state({ name: 'n1', labels: { rack: 'a' } }, [pod({ affinity: anti('web') })]),
    state({ name: 'n2', labels: { rack: 'a' } }),
  ];
  const check = affinityCheck(pod({}, { labels: { app: 'web' } }), cluster(racks));
  const there = ['a', 'b', undefined].map((rack) => check(node({ labels: rack ? { rack } : {} })));
  assert.deepEqual(there, ["node(s) didn't satisfy existing pods anti-affinity rules", undefined, undefined]);
});

test('who keeps others away keeps nobody of another namespace away, whatever it names', () => {
  const term = { topologyKey: RACK, labelSelector: {}, namespaceSelector: {}, namespaces: ['other'] };
  const affinity: Affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  const racks = [state({ name: 'n1', labels: { rack: 'a' } }, [pod({ affinity }, { namespace: 'own', uid: 'loner' })])];
  const at = node({ labels: { rack: 'a' } });
  const answers = ['own', 'other', 'default'].map((namespace) => affinityCheck(pod({}, { namespace, uid: 'new' }), cluster(racks))(at));
  assert.deepEqual(answers, ["node(s) didn't satisfy existing pods anti-affinity rules", undefined, undefined]);
  // Its own way is its own matter: it goes where nobody of these is.
  const guests = [state({ name: 'n1', labels: { rack: 'a' } }, [pod({}, { namespace: 'other', uid: 'guest' })])];
  assert.equal(
    affinityCheck(pod({ affinity }, { namespace: 'own', uid: 'loner' }), cluster(guests))(at),
    "node(s) didn't match pod anti-affinity rules",
  );
});

/** The rules as they read, without any index: every Pod of every node, for one node. */
function naive(waiting: Pod, at: NodeWithPods, nodes: readonly NodeWithPods[]): boolean {
  const rackOf = (each: NodeWithPods) => each.node.metadata.labels?.[RACK];
  const wants = (each: Pod, kind: 'podAffinity' | 'podAntiAffinity') =>
    (each.spec.affinity as Affinity | undefined)?.[kind]?.requiredDuringSchedulingIgnoredDuringExecution?.[0]?.labelSelector?.matchLabels?.[
      'app'
    ];
  const has = (each: Pod, app: string) => each.metadata.labels?.['app'] === app;
  const sameRack = nodes.filter((each) => rackOf(each) !== undefined && rackOf(each) === rackOf(at)).flatMap(({ pods }) => pods);
  const friend = wants(waiting, 'podAffinity');
  const foe = wants(waiting, 'podAntiAffinity');
  const isFirst = friend !== undefined && has(waiting, friend) && !nodes.some(({ pods }) => pods.some((each) => has(each, friend)));
  const isNear = friend === undefined || (rackOf(at) !== undefined && (isFirst || sameRack.some((each) => has(each, friend))));
  const isAway = foe === undefined || !sameRack.some((each) => has(each, foe));
  const isAccepted = !sameRack.some((each) => {
    const unwanted = wants(each, 'podAntiAffinity');
    return unwanted !== undefined && has(waiting, unwanted);
  });
  return isNear && isAway && isAccepted;
}

test('the index answers as a walk over all Pods would', () => {
  const app = fc.constantFrom('web', 'db');
  const affinity = fc.oneof(fc.constant(undefined), app.map(anti), app.map(near));
  const anyPod = fc.record({ affinity, app }).map((given) => pod({ affinity: given.affinity }, { labels: { app: given.app } }));
  const anyNode = fc.record({ rack: fc.constantFrom('a', 'b', undefined), pods: fc.array(anyPod, { maxLength: 3 }) });
  fc.assert(
    fc.property(fc.array(anyNode, { minLength: 1, maxLength: 5 }), anyPod, (given, waiting) => {
      const nodes = given.map(({ rack, pods }, index) => state({ name: `n${index}`, labels: rack ? { rack } : {} }, pods));
      const check = affinityCheck(waiting, cluster(nodes));
      for (const each of nodes) assert.equal(check(each.node) === undefined, naive(waiting, each, nodes));
    }),
  );
});

/** A cluster of full nodes that counts how often somebody looks at a Pod in it. */
function watched({ nodes, podsEach }: { nodes: number; podsEach: number }) {
  const looks = { count: 0 };
  const view = new ClusterState();
  for (let n = 0; n < nodes; n++) {
    view.setNode(node({ name: `n${n}`, labels: { rack: `r${n}` } }));
    for (let p = 0; p < podsEach; p++) view.place(pod({}, { uid: `${n}-${p}`, name: `${n}-${p}`, labels: { app: 'web' } }), `n${n}`);
    for (const each of view.nodes.get(`n${n}`)?.pods.values() ?? []) {
      const { metadata } = each;
      const get = () => {
        looks.count += 1;
        return metadata;
      };
      Object.defineProperty(each, 'metadata', { get });
    }
  }
  return { view, looks };
}

test('a Pod without rules finds its node without a look at any other Pod', () => {
  const { view, looks } = watched({ nodes: 20, podsEach: 50 });
  assert.equal(decideBinding({ pod: pod(), cluster: view, budgets: () => [], now: 0 }).actions[0]?.do, 'bind');
  assert.equal(looks.count, 0);
});

test('a Pod with rules looks at every other Pod once, however many nodes there are', () => {
  const { view, looks } = watched({ nodes: 20, podsEach: 50 });
  assert.equal(decideBinding({ pod: pod({ affinity: anti('db') }), cluster: view, budgets: () => [], now: 0 }).actions[0]?.do, 'bind');
  assert.equal(looks.count, 20 * 50);
});
