import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Affinity } from '../../api/core/affinity.ts';
import type { Pod, PodSpec } from '../../api/core/pod.ts';
import { keyOf } from '../../api/meta.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { type NodeParts, node, pod } from './builders.testing.ts';
import { decideBinding } from './decide.ts';
import { Places } from './places.ts';

/** A node for this many Pods, and Pods that wait for it; looks are done at once, in the order of wake-ups. */
function setUp() {
  const clock = new FakeClock();
  const places = new Places({ clock });
  const woken: string[] = [];
  places.roomFor.subscribe((key) => void woken.push(key));
  const waiting = new Map<string, Pod>();
  let version = 1;

  function look(key: string): string | undefined {
    const mine = waiting.get(key);
    if (!mine) return undefined;
    places.lookAgain(mine);
    const [action] = decideBinding({ pod: mine, cluster: places.cluster, budgets: () => [], now: clock.now() }).actions;
    const nodeName = action?.do === 'bind' ? action.nodeName : undefined;
    places.decided(mine, nodeName);
    return nodeName;
  }
  return {
    clock,
    places,
    look,
    setNode(parts: NodeParts, old?: NodeParts) {
      const object = node(parts);
      const key = object.metadata.name;
      places.nodeChanged(old ? { type: 'modified', key, object, old: node(old) } : { type: 'added', key, object });
    },
    addPod(name: string, spec: Partial<PodSpec> = {}): string | undefined {
      const object = pod(spec, { name, uid: `uid-${name}`, resourceVersion: String(version++) });
      waiting.set(keyOf(object.metadata), object);
      places.podChanged({ type: 'added', key: keyOf(object.metadata), object });
      return look(keyOf(object.metadata));
    },
    deletePod(name: string) {
      const key = `default/${name}`;
      const object = waiting.get(key);
      assert.ok(object);
      waiting.delete(key);
      places.podChanged({ type: 'deleted', key, object });
    },
    takeWoken: () => woken.splice(0),
  };
}

const room = (pods: number, more: NodeParts = {}): NodeParts => ({ ...more, allocatable: { pods: String(pods), ...more.allocatable } });

test('a place that comes free is for the one that has waited longest, and wakes nobody else', () => {
  const { addPod, deletePod, setNode, takeWoken, look } = setUp();
  setNode(room(2));
  const placed = ['a', 'b', 'c', 'd', 'e'].map((name) => addPod(name));
  assert.deepEqual(placed, ['n1', 'n1', undefined, undefined, undefined]);
  deletePod('a');
  assert.deepEqual(takeWoken(), ['default/c']);
  deletePod('b'); // c has not looked yet: one of the two places is as good as taken
  assert.deepEqual(takeWoken(), ['default/d']);
  assert.deepEqual([look('default/c'), look('default/d')], ['n1', 'n1']);
  assert.deepEqual(takeWoken(), []);
});

test('places that come free on two nodes wake two', () => {
  const { addPod, deletePod, setNode, takeWoken } = setUp();
  setNode(room(1, { name: 'n1' }));
  setNode(room(1, { name: 'n2' }));
  for (const name of ['a', 'b', 'c', 'd', 'e']) addPod(name);
  deletePod('a');
  deletePod('b');
  assert.deepEqual(takeWoken(), ['default/c', 'default/d']);
});

test('who was woken and goes away before looking passes the place on', () => {
  const { addPod, deletePod, setNode, takeWoken } = setUp();
  setNode(room(1));
  for (const name of ['a', 'b', 'c']) addPod(name);
  deletePod('a');
  deletePod('b');
  assert.deepEqual(takeWoken(), ['default/b', 'default/c']);
});

test('who was woken and finds another node passes the place on', () => {
  const { addPod, deletePod, setNode, takeWoken, look } = setUp();
  setNode(room(1));
  for (const name of ['a', 'b', 'c']) addPod(name);
  deletePod('a');
  setNode(room(1, { name: 'n0' }));
  assert.deepEqual(takeWoken(), ['default/b', 'default/c']);
  assert.deepEqual([look('default/b'), look('default/c')], ['n0', 'n1']);
});

test('a Pod that a node would refuse is not woken for room on it', () => {
  const { addPod, deletePod, setNode, takeWoken } = setUp();
  setNode(room(1));
  addPod('a');
  addPod('picky', { nodeSelector: { disk: 'ssd' } });
  addPod('b');
  deletePod('a');
  assert.deepEqual(takeWoken(), ['default/b']);
});

test('a node that only says it is alive wakes nobody, one that changes for the better does', () => {
  const { addPod, setNode, takeWoken } = setUp();
  setNode(room(0));
  addPod('a');
  addPod('b');
  setNode(room(0), room(0));
  assert.deepEqual(takeWoken(), []);
  setNode(room(1), room(0));
  assert.deepEqual(takeWoken(), ['default/a']);
});

test('when a Pod leaves that kept others away, all may look', () => {
  const { addPod, deletePod, setNode, takeWoken } = setUp();
  const affinity: Affinity = {
    podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'rack', labelSelector: {} }] },
  };
  setNode({ name: 'n1', labels: { rack: 'a' } });
  setNode({ name: 'n2', labels: { rack: 'a' } });
  assert.equal(addPod('loner', { affinity }), 'n1');
  assert.deepEqual([addPod('a'), addPod('b')], [undefined, undefined]);
  deletePod('loner');
  assert.deepEqual([...new Set(takeWoken())], ['default/a', 'default/b']);
});

test('room that was given away and never taken is free again after half a minute', () => {
  const { addPod, clock, setNode, look } = setUp();
  setNode(room(1));
  assert.deepEqual([addPod('a'), addPod('b')], ['n1', undefined]);
  clock.advance(31_000);
  assert.equal(look('default/b'), 'n1');
});
