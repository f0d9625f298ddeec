import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod, TopologySpreadConstraint } from '../../api/core/pod.ts';
import { explain } from '../../reconcile/decision.ts';
import { cluster, type NodeWithPods, pod, state } from './builders.testing.ts';
import { decideBinding } from './decide.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const ZONE = 'topology.kubernetes.io/zone';
const web = (metadata: Partial<Pod['metadata']> = {}) => pod({ nodeName: 'x' }, { name: 'web', labels: { app: 'web' }, ...metadata });
const db = pod({ nodeName: 'x' }, { name: 'db', labels: { app: 'db' } });

function spread(more: Partial<TopologySpreadConstraint> = {}, spec: Partial<Pod['spec']> = {}): Pod {
  const constraint: TopologySpreadConstraint = {
    maxSkew: 1,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector: { matchLabels: { app: 'web' } },
    ...more,
  };
  return pod({ topologySpreadConstraints: [constraint], ...spec }, { labels: { app: 'web', revision: '2' } });
}

const n1 = (...pods: Pod[]) => state({}, pods);
const n2 = (...pods: Pod[]) => state({ name: 'n2' }, pods);
const inZone = (name: string, zone: string, ...pods: Pod[]) => state({ name, labels: { [ZONE]: zone } }, pods);

const CASES: readonly [title: string, pod: Pod, nodes: NodeWithPods[], expected: RegExp][] = [
  ['goes where there are fewest', spread(), [n1(web()), n2()], /^bind .* to n2: best of 1 possible/],
  ['goes anywhere while it is even', spread(), [n1(web()), n2(web())], /best of 2 possible/],
  ['Pods of others do not count', spread(), [n1(web()), n2(db, db)], /^bind .* to n2: best of 1/],
  ['Pods that are going do not count', spread(), [n1(web({ deletionTimestamp: 'x' })), n2()], /best of 2 possible/],
  ['Pods of other namespaces do not count', spread(), [n1(web({ namespace: 'other' })), n2()], /best of 2 possible/],
  ['a larger skew is allowed', spread({ maxSkew: 2 }), [n1(web()), n2()], /best of 2 possible/],
  [
    'waits when the only even place is closed',
    spread(),
    [n1(web()), state({ name: 'n2', spec: { unschedulable: true } })],
    /: 0\/2 nodes are available: 1 node\(s\) didn't match pod topology spread constraints, 1 node\(s\) were unschedulable\./,
  ],
  [
    'rather than must: it goes to the emptier one',
    spread({ whenUnsatisfiable: 'ScheduleAnyway' }),
    [n1(web()), n2(db, db, db)],
    /^bind .* to n2: best of 2/,
  ],
  [
    'rather than must: it goes to a full one when there is no other',
    spread({ whenUnsatisfiable: 'ScheduleAnyway' }),
    [n1(web(), web()), state({ name: 'n2', spec: { unschedulable: true } })],
    /^bind .* to n1/,
  ],
  [
    'zones count as wholes',
    spread({ topologyKey: ZONE }),
    [inZone('n1', 'a', web()), inZone('n2', 'a'), inZone('n3', 'b')],
    /^bind .* to n3: best of 1/,
  ],
  ['a node without the label is none', spread({ topologyKey: ZONE }), [n1()], /missing required label/],
  [
    'nodes it may not go to do not count',
    spread({}, { nodeSelector: { disk: 'fast' } }),
    [state({ labels: { disk: 'fast' } }, [web()]), n2()],
    /^bind .* to n1/,
  ],
  [
    'unless they are to',
    spread({ nodeAffinityPolicy: 'Ignore' }, { nodeSelector: { disk: 'fast' } }),
    [state({ labels: { disk: 'fast' } }, [web()]), n2()],
    /topology spread/,
  ],
  ['as many topologies as are asked for', spread({ minDomains: 3 }), [n1(web()), n2(web())], /topology spread/],
  [
    'only Pods of the same revision count',
    spread({ matchLabelKeys: ['revision'] }),
    [n1(web({ labels: { app: 'web', revision: '1' } })), n2()],
    /best of 2 possible/,
  ],
];

describe('a Pod with a topology spread constraint', () => {
  for (const [title, each, nodes, expected] of CASES)
    test(title, () =>
      assert.match(explain(decideBinding({ pod: each, cluster: cluster(nodes), budgets: () => [], now }))[0] ?? '', expected),
    );
});
