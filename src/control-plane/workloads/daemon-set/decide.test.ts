import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ControllerRevision } from '../../../api/core/controller-revision.ts';
import type { DaemonSet, DaemonSetStatus } from '../../../api/core/daemon-set.ts';
import type { Node, Taint } from '../../../api/core/node.ts';
import type { Pod } from '../../../api/core/pod.ts';
import { controllerReferenceTo, type ObjectMeta } from '../../../api/meta.ts';
import { deleting, labels, meta, NOW, podOf, said, template } from '../builders.testing.ts';
import { revisionData } from '../template-revisions.ts';
import { decideDaemonSet } from './decide.ts';
import type { ObservedDaemonSet } from './observed.ts';

function set(spec: Partial<DaemonSet['spec']> = {}, status: DaemonSetStatus = {}, metadata: Partial<ObjectMeta> = {}): DaemonSet {
  const updateStrategy = { type: 'RollingUpdate' as const, rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } };
  const whole = { selector: { matchLabels: labels }, template: template(), updateStrategy, ...spec };
  return { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: meta('web', metadata), spec: whole, status };
}

function revision(of: DaemonSet, number = 1, metadata: Partial<ObjectMeta> = {}): ControllerRevision {
  const owner = controllerReferenceTo(set());
  const hash = `hash${number}`;
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: meta(`web-${hash}`, { labels: { ...labels, 'controller-revision-hash': hash }, ownerReferences: [owner], ...metadata }),
    revision: number,
    data: revisionData(of.spec),
  };
}

const node = (name: string, taints: readonly Taint[] = []): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid: name },
  spec: { taints },
});
const taint = (effect: Taint['effect']): Taint => ({ key: 'broken', effect });

/** A Pod of the set on a node, of the first or another revision. */
function on(
  nodeName: string,
  state: Parameters<typeof podOf>[2] = 'ready',
  { hash = 'hash1', ...metadata }: Partial<ObjectMeta> & { hash?: string } = {},
): Pod {
  const name = metadata.name ?? `on-${nodeName}-${hash}`;
  const pod = podOf(set(), name, state, { ...metadata, labels: { ...labels, 'controller-revision-hash': hash } });
  return { ...pod, spec: { ...pod.spec, nodeName } };
}

function observed(part: Partial<ObservedDaemonSet> = {}): ObservedDaemonSet {
  const nodes = [node('n1'), node('n2')];
  return { set: set(), nodes, pods: [], revisions: [revision(part.set ?? set())], mayAdopt: true, taken: new Set(), now: NOW, ...part };
}

const STATUS = 'patch DaemonSet status default/web:';
const settled: DaemonSetStatus = {
  currentNumberScheduled: 2,
  desiredNumberScheduled: 2,
  numberMisscheduled: 0,
  numberReady: 2,
  numberAvailable: 2,
  updatedNumberScheduled: 2,
  observedGeneration: 1,
};
const both = [on('n1'), on('n2')];
const newer = { revisions: [revision(set({ template: template('nothing:0') }), 1), revision(set(), 2)] };
const surge = { updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } };

const cases: [string, Partial<ObservedDaemonSet>, string[]][] = [
  ['an empty selector is everybody: nothing is done', { set: set({ selector: {} }) }, []],
  ['a new template gets a revision before any Pod', { revisions: [] }, ['create ControllerRevision default/web-*: the template is new']],
  [
    'a template that was there before becomes the newest',
    { revisions: [revision(set(), 1), revision(set({ template: template('nothing:0') }), 2)] },
    ['patch ControllerRevision default/web-hash1: its template is the current one again'],
  ],
  ['a Pod for each node', {}, ['create Pod default/web-*: node n1 has none', 'create Pod default/web-*: node n2 has none']],
  ['all there: the status', { pods: both }, [`${STATUS} 2 nodes, 2 ready`]],
  ['all said: nothing', { set: set({}, settled), pods: both }, []],
  ['not on a node that repels it', { nodes: [node('n1', [taint('NoSchedule')])] }, [`${STATUS} 0 nodes, 0 ready`]],
  ['but one that runs there stays', { nodes: [node('n1', [taint('NoSchedule')])], pods: [on('n1')] }, [`${STATUS} 0 nodes, 0 ready`]],
  [
    'unless the node ends what is there',
    { nodes: [node('n1', [taint('NoExecute')])], pods: [on('n1')] },
    ['delete Pod default/on-n1-hash1: node n1 does not take it'],
  ],
  [
    'a cordoned, silent or full node is a node all the same',
    {
      nodes: [
        node('n1', [
          { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' },
          { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' },
        ]),
      ],
    },
    ['create Pod default/web-*: node n1 has none'],
  ],
  ['a node that is gone', { nodes: [node('n1')], pods: both }, ['delete Pod default/on-n2-hash1: node n2 does not take it']],
  [
    'the oldest of two stays',
    { nodes: [node('n1')], pods: [on('n1'), on('n1', 'ready', { name: 'second', creationTimestamp: '2027-01-01T00:00:00Z' })] },
    ['delete Pod default/second: node n1 has one already'],
  ],
  [
    'one that has failed is kept for a moment',
    { nodes: [node('n1')], pods: [on('n1', 'Failed')] },
    [`${STATUS} 1 nodes, 0 ready`, 'look again in 10s'],
  ],
  [
    'and then goes',
    { nodes: [node('n1')], pods: [on('n1', 'Failed')], now: NOW + 10_000 },
    ['delete Pod default/on-n1-hash1: it has failed'],
  ],
  ['one that is going keeps its place', { nodes: [node('n1')], pods: [on('n1', 'ready', deleting)] }, [`${STATUS} 1 nodes, 0 ready`]],
  ['one node at a time gets the new template', { ...newer, pods: both }, ['delete Pod default/on-n1-hash1: it is of an old template']],
  [
    'and no other while one is missing',
    { ...newer, pods: [on('n1', 'unready', { hash: 'hash2' }), on('n2')] },
    [`${STATUS} 2 nodes, 1 ready`],
  ],
  [
    'old ones that serve nobody go at once',
    { ...newer, pods: [on('n1', 'unready'), on('n2')] },
    ['delete Pod default/on-n1-hash1: it is of an old template and serves nobody'],
  ],
  ['OnDelete: they stay', { ...newer, set: set({ updateStrategy: { type: 'OnDelete' } }), pods: both }, [`${STATUS} 2 nodes, 2 ready`]],
  ['maxSurge: the new one comes first', { ...newer, set: set(surge), pods: both }, ['create Pod default/web-*: node n1 has none']],
  [
    'maxSurge: and no other before it serves',
    { ...newer, set: set(surge), pods: [...both, on('n1', 'unready', { hash: 'hash2' })] },
    [`${STATUS} 2 nodes, 2 ready`],
  ],
  [
    'maxSurge: then the old one goes',
    { ...newer, set: set(surge), pods: [...both, on('n1', 'ready', { hash: 'hash2' })] },
    ['create Pod default/web-*: node n2 has none', 'delete Pod default/on-n1-hash1: the new one serves'],
  ],
  [
    'old revisions that no Pod is of are forgotten',
    {
      ...newer,
      set: set({ revisionHistoryLimit: 0 }, settled),
      pods: [on('n1', 'ready', { hash: 'hash2' }), on('n2', 'ready', { hash: 'hash2' })],
    },
    ['delete ControllerRevision default/web-hash1: 1 old revisions, 0 are kept'],
  ],
  ['an orphan is adopted', { pods: [...both, podOf(undefined, 'lost')] }, ['patch Pod default/lost: DaemonSet web adopts it']],
  [
    'so is a revision',
    { revisions: [revision(set(), 1, { ownerReferences: [] })] },
    ['patch ControllerRevision default/web-hash1: DaemonSet web adopts it'],
  ],
  ['being deleted: nothing is made', { set: set({}, {}, deleting) }, [`${STATUS} 2 nodes, 0 ready`]],
];

describe('decideDaemonSet', () => {
  for (const [name, part, expected] of cases) test(name, () => assert.deepEqual(said(decideDaemonSet(observed(part))), expected));
});

test('a Pod is for one node by its name, whatever else its template asks for', () => {
  const required = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/os', operator: 'DoesNotExist' as const }] }] };
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
  const picky = set({ template: { ...template(), spec: { ...template().spec, affinity } } });
  const [action] = decideDaemonSet(observed({ set: picky, nodes: [node('n1')] })).actions;
  const pod = action?.do === 'create' ? (action.object as Pod) : undefined;
  assert.deepEqual(pod?.spec.affinity, {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ ...required.nodeSelectorTerms[0], matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }],
      },
    },
  });
});
