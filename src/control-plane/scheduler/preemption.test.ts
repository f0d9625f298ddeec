import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Pod, type PodSpec, priorityOf } from '../../api/core/pod.ts';
import type { PodDisruptionBudget } from '../../api/core/pod-disruption-budget.ts';
import { explain } from '../../reconcile/decision.ts';
import { cluster, type NodeWithPods, pod, state } from './builders.testing.ts';
import { decideBinding } from './decide.ts';
import { wishesOf } from './filters.ts';
import { victimsFor } from './preemption.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

/** A Pod of this priority that asks for so many of a node's four processors. */
function asks(name: string, priority: number, cpu = 1, more: Partial<PodSpec> = {}, metadata: Partial<Pod['metadata']> = {}): Pod {
  const containers = [{ name: 'c', image: 'i', resources: { requests: { cpu: String(cpu) } } }];
  return pod({ containers, priority, ...more }, { name, uid: `uid-${name}`, ...metadata });
}
const started = (each: Pod, startTime: string): Pod => ({ ...each, status: { ...each.status, startTime } });
const going = (each: Pod): Pod => ({ ...each, metadata: { ...each.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } });

function budget(app: string, disruptionsAllowed: number): PodDisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: app, namespace: 'default' },
    spec: { selector: { matchLabels: { app } }, minAvailable: 1 },
    status: { disruptionsAllowed },
  };
}
const web = { labels: { app: 'web' } };
const on = (name: string, ...pods: Pod[]): NodeWithPods => state({ name }, pods);
const apart: Partial<PodSpec> = {
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'web' } } },
      ],
    },
  },
};
const port = (hostPort: number): Partial<PodSpec> => ({ containers: [{ name: 'c', ports: [{ containerPort: 80, hostPort }] }] });

type Case = [fact: string, pod: Pod, nodes: NodeWithPods[], expected: string | undefined, budgets?: PodDisruptionBudget[]];
const cases: Case[] = [
  ['nobody is less important', asks('p', 5, 4), [on('n1', asks('a', 5, 4))], undefined],
  ['the less important one leaves', asks('p', 5, 4), [on('n1', asks('a', 1, 4))], 'n1: a'],
  ['preemptionPolicy Never waits', asks('p', 5, 4, { preemptionPolicy: 'Never' }), [on('n1', asks('a', 1, 4))], undefined],
  ['only as many as have to', asks('p', 5, 2), [on('n1', asks('a', 1), asks('b', 1), asks('c', 1), asks('d', 1))], 'n1: c d'],
  ['the more important stay', asks('p', 5, 2), [on('n1', asks('a', 2), asks('b', 1), asks('c', 3), asks('d', 1))], 'n1: b d'],
  [
    'who has run for longer stays',
    asks('p', 5),
    [on('n1', started(asks('a', 1, 2), '2025-06-01T00:00:00Z'), started(asks('b', 1, 2), '2025-01-01T00:00:00Z'))],
    'n1: a',
  ],
  ['not where it would not help', asks('p', 5, 4), [on('n1', asks('a', 1, 2), asks('b', 9, 2)), on('n2', asks('c', 1, 4))], 'n2: c'],
  [
    'where the node itself is refused, nobody leaves',
    asks('p', 5),
    [state({ spec: { unschedulable: true } }, [asks('a', 1, 4)])],
    undefined,
  ],
  ['the node whose victim is least important', asks('p', 5, 4), [on('n1', asks('a', 2, 4)), on('n2', asks('b', 1, 4))], 'n2: b'],
  ['the node with fewest victims', asks('p', 5, 4), [on('n1', asks('a', 1, 2), asks('b', 1, 2)), on('n2', asks('c', 1, 4))], 'n2: c'],
  [
    'a negative priority is one, too: fewer victims count more',
    asks('p', 5, 4),
    [on('n1', asks('a', -9, 2), asks('b', -9, 2)), on('n2', asks('c', -9, 4))],
    'n2: c',
  ],
  [
    'the victim that started last',
    asks('p', 5, 4),
    [on('n1', started(asks('a', 1, 4), '2025-01-01T00:00:00Z')), on('n2', started(asks('b', 1, 4), '2025-06-01T00:00:00Z'))],
    'n2: b',
  ],
  [
    'whom a budget protects stays, if another can go',
    asks('p', 5),
    [on('n1', asks('a', 1, 2, {}, web), asks('b', 1, 2))],
    'n1: b',
    [budget('web', 0)],
  ],
  [
    'a node without protected victims comes first',
    asks('p', 5, 4),
    [on('n1', asks('a', 1, 4, {}, web)), on('n2', asks('b', 4, 4))],
    'n2: b',
    [budget('web', 0)],
  ],
  ['a budget is respected where that is possible', asks('p', 5, 4), [on('n1', asks('a', 1, 4, {}, web))], 'n1: a', [budget('web', 0)]],
  [
    'a budget that allows one',
    asks('p', 5, 2),
    [on('n1', asks('a', 1, 2, {}, web), asks('b', 1, 2, {}, web))],
    'n1: a',
    [budget('web', 1)],
  ],
  [
    'a port that a less important Pod has',
    pod({ ...port(80), priority: 5 }),
    [on('n1', pod({ ...port(80), priority: 1 }, { name: 'a' }))],
    'n1: a',
  ],
  ['a Pod that keeps others away', asks('p', 5, 1, {}, web), [on('n1', asks('a', 1, 1, apart))], 'n1: a'],
  ['a Pod that it wants to be apart from', asks('p', 5, 1, apart), [on('n1', asks('a', 1, 1, {}, web), asks('b', 1, 1))], 'n1: a'],
  [
    'room is being made already',
    { ...asks('p', 5, 4), status: { nominatedNodeName: 'n1' } },
    [on('n1', going(asks('a', 1, 4))), on('n2', asks('b', 1, 4))],
    undefined,
  ],
  [
    'the victims are gone, and somebody else was faster',
    { ...asks('p', 5, 4), status: { nominatedNodeName: 'n1' } },
    [on('n1', asks('a', 1, 4))],
    'n1: a',
  ],
];

describe('victimsFor', () => {
  for (const [fact, waiting, nodes, expected, budgets = []] of cases) {
    test(fact, () => {
      const view = cluster(nodes);
      const victims = victimsFor({ wishes: wishesOf(waiting, view), cluster: view, budgets: () => budgets });
      const names = victims?.pods.map(({ metadata }) => metadata.name).sort();
      assert.equal(victims && `${victims.nodeName}: ${names?.join(' ')}`, expected);
    });
  }
});

test('where nobody is less important no budget is asked for', () => {
  const view = cluster([on('n1', asks('a', 0, 4))]);
  const budgets = () => assert.fail('asked');
  assert.equal(victimsFor({ wishes: wishesOf(asks('p', 0, 4), view), cluster: view, budgets }), undefined);
});

test('a node is chosen and told, the victims are told why they go, and those that go already are not told twice', () => {
  const view = cluster([on('n1', asks('a', 1, 2), going(asks('b', 1, 2)))]);
  const decision = decideBinding({ pod: asks('p', 5, 4), cluster: view, budgets: () => [], now });
  assert.deepEqual(explain(decision), [
    'patch Pod status default/p: 0/1 nodes are available: 1 Insufficient cpu.',
    'patch Pod status default/a: Pod default/p is more important and needs its room on n1',
    'delete Pod default/a: Pod default/p is more important and needs its room on n1',
    'look again in 60s',
  ]);
  const [noted, , deleted] = decision.actions;
  assert.equal(noted?.do === 'patch' && (noted.patch as { status: Pod['status'] }).status?.nominatedNodeName, 'n1');
  assert.equal(deleted?.event?.about?.metadata.name, 'a');
});

test('room that is being made for one is not given to another, but to who is more important', () => {
  const view = cluster([on('n1')]);
  view.nominate(asks('first', 5, 4), 'n1');
  const placeOf = (each: Pod) => decideBinding({ pod: each, cluster: view, budgets: () => [], now }).actions[0]?.do;
  assert.deepEqual([asks('p', 5, 1), asks('p', 1, 1), asks('p', 9, 1)].map(placeOf), ['patch', 'patch', 'bind']);
  assert.equal(placeOf(asks('first', 5, 4)), 'bind');
});

test('priorities are counted as Pods come and go', () => {
  const view = cluster([on('n1', asks('a', 1), asks('b', 1), asks('c', 0))]);
  const [first] = view.nodes.get('n1')?.pods.values() ?? [];
  assert.ok(first);
  view.leave(first);
  assert.deepEqual([...view.priorities].sort(), [
    [0, 1],
    [priorityOf(first), 1],
  ]);
});
