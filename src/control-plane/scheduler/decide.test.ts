import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Affinity, NodeSelectorRequirement, PodAffinityTerm } from '../../api/core/affinity.ts';
import type { Taint } from '../../api/core/node.ts';
import type { Pod, Toleration } from '../../api/core/pod.ts';
import { requestsOf } from '../../api/core/pod-resources.ts';
import { explain } from '../../reconcile/decision.ts';
import { asking, cluster, type NodeWithPods, pod, state } from './builders.testing.ts';
import { decideBinding } from './decide.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const bound = (nodeName: string, possible = 1, nodes = possible) =>
  `bind Pod default/p to ${nodeName}: best of ${possible} possible of ${nodes} nodes`;
const AGAIN = 'look again in 60s';
const none = (reasons: string, nodes = 1) => [`patch Pod status default/p: 0/${nodes} nodes are available: ${reasons}.`, AGAIN];

const gpu: Taint = { key: 'gpu', value: 'yes', effect: 'NoSchedule' };
const tolerating = (...tolerations: Toleration[]) => pod({ tolerations });
const onNodes = (...matchExpressions: NodeSelectorRequirement[]) => requiring({ matchExpressions });
function requiring(...nodeSelectorTerms: object[]): Pod {
  return pod({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } });
}
function apart(kind: 'podAffinity' | 'podAntiAffinity', term: Partial<PodAffinityTerm> = {}, metadata: Partial<Pod['metadata']> = {}): Pod {
  const terms = [{ topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'db' } }, ...term }];
  const affinity: Affinity = { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
  return pod({ affinity }, metadata);
}
const db = pod({ nodeName: 'n1' }, { name: 'db', labels: { app: 'db' } });
const hostPort = (port: number, hostIP?: string) =>
  pod({ containers: [{ name: 'c', ports: [{ containerPort: 80, hostPort: port, hostIP }] }] });
const UNWANTED = "1 node(s) didn't match Pod's node affinity/selector";
const n1 = state();
const n2 = state({ name: 'n2' });

const cases: [string, Pod, NodeWithPods[], string[]][] = [
  ['a Pod with a node is left alone', pod({ nodeName: 'n1' }), [n1], []],
  ['a Pod of another scheduler is left alone', pod({ schedulerName: 'mine' }), [n1], []],
  ['a Pod that names this scheduler is taken', pod({ schedulerName: 'default-scheduler' }), [n1], [bound('n1')]],
  ['a gated Pod waits', pod({ schedulingGates: [{ name: 'later' }] }), [n1], []],
  ['a Pod that is going is left alone', pod({}, { deletionTimestamp: 'x' }), [n1], []],
  ['a Pod that has ended is left alone', pod({}, {}, { phase: 'Failed' }), [n1], []],
  ['a node that passes is taken', pod(), [n1], [bound('n1')]],
  ['without nodes there is no place', pod(), [], ['patch Pod status default/p: no nodes available to schedule pods', AGAIN]],

  ['a cordoned node is passed over', pod(), [state({ spec: { unschedulable: true } }), n2], [bound('n2', 1, 2)]],
  [
    'a Pod finds no place while all nodes are cordoned',
    pod(),
    [state({ spec: { unschedulable: true } })],
    none('1 node(s) were unschedulable'),
  ],
  [
    'a daemon that tolerates it goes on a cordoned node',
    tolerating({ key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' }),
    [state({ spec: { unschedulable: true } })],
    [bound('n1')],
  ],
  ['a node that is not ready is passed over', pod(), [state({ isReady: false })], none('1 node(s) were not ready')],
  ['a taint keeps Pods off', pod(), [state({ spec: { taints: [gpu] } })], none('1 node(s) had untolerated taint {gpu: yes}')],
  [
    'an equal toleration lets a Pod on a tainted node',
    tolerating({ key: 'gpu', value: 'yes' }),
    [state({ spec: { taints: [gpu] } })],
    [bound('n1')],
  ],
  [
    'a toleration of another value does not count',
    tolerating({ key: 'gpu', value: 'no' }),
    [state({ spec: { taints: [gpu] } })],
    none('1 node(s) had untolerated taint {gpu: yes}'),
  ],
  [
    'a toleration with Exists needs the key only',
    tolerating({ key: 'gpu', operator: 'Exists' }),
    [state({ spec: { taints: [gpu] } })],
    [bound('n1')],
  ],
  [
    'a toleration without a key tolerates everything',
    tolerating({ operator: 'Exists' }),
    [state({ spec: { taints: [gpu] } })],
    [bound('n1')],
  ],
  [
    'a toleration of another effect does not count',
    tolerating({ key: 'gpu', operator: 'Exists', effect: 'NoExecute' }),
    [state({ spec: { taints: [gpu] } })],
    none('1 node(s) had untolerated taint {gpu: yes}'),
  ],
  [
    'a taint to be avoided is only avoided',
    pod(),
    [state({ spec: { taints: [{ ...gpu, effect: 'PreferNoSchedule' }] } }), n2],
    [bound('n2', 2)],
  ],

  [
    'a node selector chooses',
    pod({ nodeSelector: { disk: 'ssd' } }),
    [n1, state({ name: 'n2', labels: { disk: 'ssd' } })],
    [bound('n2', 1, 2)],
  ],
  ['a node selector that no node has leaves no place', pod({ nodeSelector: { disk: 'ssd' } }), [n1], none(UNWANTED)],
  [
    'node affinity In takes a value of the list',
    onNodes({ key: 'disk', operator: 'In', values: ['ssd', 'nvme'] }),
    [state({ labels: { disk: 'nvme' } })],
    [bound('n1')],
  ],
  [
    'node affinity NotIn refuses a value of the list',
    onNodes({ key: 'disk', operator: 'NotIn', values: ['ssd'] }),
    [state({ labels: { disk: 'ssd' } })],
    none(UNWANTED),
  ],
  ['node affinity NotIn holds without the label', onNodes({ key: 'disk', operator: 'NotIn', values: ['ssd'] }), [n1], [bound('n1')]],
  ['node affinity Exists needs the label', onNodes({ key: 'disk', operator: 'Exists' }), [n1], none(UNWANTED)],
  ['node affinity DoesNotExist refuses the label', onNodes({ key: 'disk', operator: 'DoesNotExist' }), [n1], [bound('n1')]],
  [
    'node affinity Gt compares numbers',
    onNodes({ key: 'cores', operator: 'Gt', values: ['9'] }),
    [state({ labels: { cores: '10' } })],
    [bound('n1')],
  ],
  [
    'node affinity Lt compares numbers',
    onNodes({ key: 'cores', operator: 'Lt', values: ['9'] }),
    [state({ labels: { cores: '10' } })],
    none(UNWANTED),
  ],
  [
    'node affinity Gt of a word never holds',
    onNodes({ key: 'cores', operator: 'Gt', values: ['9'] }),
    [state({ labels: { cores: 'many' } })],
    none(UNWANTED),
  ],
  [
    'a field names the node, as DaemonSets do',
    requiring({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n2'] }] }),
    [n1, n2],
    [bound('n2', 1, 2)],
  ],
  [
    'one term of several is enough',
    requiring({ matchExpressions: [{ key: 'a', operator: 'Exists' }] }, { matchExpressions: [{ key: 'b', operator: 'DoesNotExist' }] }),
    [n1],
    [bound('n1')],
  ],
  ['an empty term holds nowhere', requiring({}), [n1], none(UNWANTED)],
  [
    'a preference decides between equals',
    pod({
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 5, preference: { matchExpressions: [{ key: 'disk', operator: 'Exists' }] } },
          ],
        },
      },
    }),
    [n1, state({ name: 'n2', labels: { disk: 'ssd' } })],
    [bound('n2', 2)],
  ],

  ['room that is left is used', asking({ cpu: '3' }), [state({}, [asking({ cpu: '1' })])], [bound('n1')]],
  ['room that is taken is not there', asking({ cpu: '3' }), [state({}, [asking({ cpu: '1100m' })])], none('1 Insufficient cpu')],
  [
    'tenths add up to the whole',
    asking({ cpu: '3700m' }),
    [
      state(
        {},
        [1, 2, 3].map(() => asking({ cpu: '100m' })),
      ),
    ],
    [bound('n1')],
  ],
  ['everything that lacks is said', asking({ cpu: '5', memory: '9Gi' }), [n1], none('1 Insufficient cpu, 1 Insufficient memory')],
  [
    'a device that the node has is given',
    asking({ 'devices.kubevirt.io/kvm': '1' }),
    [state({ allocatable: { 'devices.kubevirt.io/kvm': '1' } })],
    [bound('n1')],
  ],
  [
    'a device that the node lacks leaves no place',
    asking({ 'devices.kubevirt.io/kvm': '1' }),
    [n1],
    none('1 Insufficient devices.kubevirt.io/kvm'),
  ],
  ['the number of Pods is limited', pod(), [state({ allocatable: { pods: '1' } }, [pod()])], none('1 Too many pods')],
  [
    'a host port that is taken leaves no place',
    hostPort(80),
    [state({}, [hostPort(80)])],
    none("1 node(s) didn't have free ports for the requested pod ports"),
  ],
  ['a host port on another address is free', hostPort(80, '127.0.0.1'), [state({}, [hostPort(80, '10.0.0.1')])], [bound('n1')]],
  ['the emptier node is preferred', asking({ cpu: '1' }), [state({}, [asking({ cpu: '2' })]), n2], [bound('n2', 2)]],
  [
    'different reasons are counted',
    asking({ memory: '9Gi' }),
    [state({ spec: { unschedulable: true } }), n2, state({ name: 'n3' })],
    none('1 node(s) were unschedulable, 2 Insufficient memory', 3),
  ],

  ['Pod affinity puts a Pod near one that it needs', apart('podAffinity'), [state({ name: 'n2' }), state({}, [db])], [bound('n1', 1, 2)]],
  ['Pod affinity without such a Pod leaves no place', apart('podAffinity'), [n1], none("1 node(s) didn't match pod affinity rules")],
  ['the first of a group needs nobody', apart('podAffinity', {}, { labels: { app: 'db' } }), [n1], [bound('n1')]],
  ['Pod anti-affinity keeps a Pod away from another', apart('podAntiAffinity'), [state({}, [db]), n2], [bound('n2', 1, 2)]],
  [
    'Pod anti-affinity on every node leaves no place',
    apart('podAntiAffinity'),
    [state({}, [db])],
    none("1 node(s) didn't match pod anti-affinity rules"),
  ],
  ['Pods of another namespace are not meant', apart('podAntiAffinity', { namespaces: ['other'] }), [state({}, [db])], [bound('n1')]],
  [
    'a Pod that is there can keep others away',
    pod({}, { labels: { app: 'db' } }),
    [state({}, [apart('podAntiAffinity', {}, { name: 'first' })])],
    none("1 node(s) didn't satisfy existing pods anti-affinity rules"),
  ],
];

describe('decideBinding', () => {
  for (const [name, waiting, nodes, expected] of cases) {
    test(name, () => assert.deepEqual(explain(decideBinding({ pod: waiting, cluster: cluster(nodes), budgets: () => [], now })), expected));
  }
});

test('the reason is a condition and an event, once, and keeps the other conditions', () => {
  const message = '0/1 nodes are available: 1 Insufficient cpu.';
  const waiting = asking({ cpu: '9' });
  const other = { type: 'Ready', status: 'False' } as const;
  const seen: Pod = { ...waiting, status: { conditions: [other] } };
  const [action] = decideBinding({ pod: seen, cluster: cluster([n1]), budgets: () => [], now }).actions;
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  } as const;
  assert.ok(action?.do === 'patch');
  assert.deepEqual(action.patch, { status: { conditions: [other, condition] } });
  assert.deepEqual([action.event, action.resourceVersion], [{ type: 'Warning', reason: 'FailedScheduling', message }, '1']);
  const told: Pod = { ...waiting, status: { conditions: [condition] } };
  assert.deepEqual(explain(decideBinding({ pod: told, cluster: cluster([n1]), budgets: () => [], now })), [AGAIN]);
});

test('a Pod asks for its containers together or its largest init container, whichever is more', () => {
  const container = (cpu: string, restartPolicy?: string) => ({ name: 'c', resources: { requests: { cpu } }, restartPolicy });
  const initContainers = [container('2'), container('500m', 'Always'), container('3')];
  const containers = [container('1'), container('250m')];
  assert.deepEqual(requestsOf(pod({ initContainers, containers, overhead: { cpu: '100m' } })), { cpu: 3.6, pods: 1 });
  assert.deepEqual(requestsOf(pod({ containers })), { cpu: 1.25, pods: 1 });
  assert.deepEqual(
    requestsOf(pod({ containers: [{ name: 'c', resources: { limits: { cpu: '1', memory: '1Ki' }, requests: { cpu: '500m' } } }] })),
    {
      cpu: 0.5,
      memory: 1024,
      pods: 1,
    },
  );
});
