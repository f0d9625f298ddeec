import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ControllerRevision } from '../../../api/core/controller-revision.ts';
import type { Pod } from '../../../api/core/pod.ts';
import type { StatefulSet, StatefulSetStatus } from '../../../api/core/stateful-set.ts';
import type { PersistentVolumeClaim } from '../../../api/core/volume.ts';
import { controllerReferenceTo, type ObjectMeta } from '../../../api/meta.ts';
import { deleting, labels, meta, NOW, podOf, said, template } from '../builders.testing.ts';
import { revisionData } from '../template-revisions.ts';
import { decideStatefulSet } from './decide.ts';
import { isClaimOf } from './numbered-pod.ts';
import type { ObservedStatefulSet } from './observed.ts';

function set(spec: Partial<StatefulSet['spec']> = {}, status: StatefulSetStatus = {}, metadata: Partial<ObjectMeta> = {}): StatefulSet {
  const whole = { replicas: 2, serviceName: 'web', selector: { matchLabels: labels }, template: template('nothing:2'), ...spec };
  return { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: meta('web', metadata), spec: whole, status };
}

function revision(number: number): ControllerRevision {
  const hash = `hash${number}`;
  const owner = controllerReferenceTo(set());
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: meta(`web-${hash}`, { labels: { 'controller-revision-hash': hash }, ownerReferences: [owner] }),
    revision: number,
    data: revisionData(set({ template: template(`nothing:${number}`) }).spec),
  };
}

const pod = (number: number, state: Parameters<typeof podOf>[2] = 'ready', hash = 'hash2', metadata: Partial<ObjectMeta> = {}): Pod =>
  podOf(set(), `web-${number}`, state, { labels: { ...labels, 'controller-revision-hash': hash }, ...metadata });
const claim = (name: string): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: meta(name),
  spec: {},
});

function observed(part: Partial<ObservedStatefulSet> = {}): ObservedStatefulSet {
  return { set: set(), pods: [], revisions: [revision(1), revision(2)], mayAdopt: true, claims: [], now: NOW, ...part };
}

const STATUS = 'patch StatefulSet status default/web:';
const parallel = { podManagementPolicy: 'Parallel' as const };
const data = { volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: {} }] };
const partition = (n: number) => ({ updateStrategy: { rollingUpdate: { partition: n } } });
const make = (number: number) => `create Pod default/web-${number}: number ${number} has no Pod`;

const cases: [string, Partial<ObservedStatefulSet>, string[]][] = [
  ['an empty selector is everybody: nothing is done', { set: set({ selector: {} }) }, []],
  ['a new template gets a revision before any Pod', { revisions: [] }, ['create ControllerRevision default/web-*: the template is new']],
  ['the first number first', {}, [make(0)]],
  ['the second waits for the first', { pods: [pod(0, 'unready')] }, [`${STATUS} 1 Pods, 0 ready`]],
  ['and comes when it serves', { pods: [pod(0)] }, [make(1)]],
  ['Parallel: all at once', { set: set(parallel) }, [make(0), make(1)]],
  ['numbers may begin elsewhere', { set: set({ ...parallel, ordinals: { start: 5 } }) }, [make(5), make(6)]],
  ['claims come before their Pod', { set: set(data) }, ['create PersistentVolumeClaim default/data-web-0: Pod web-0 needs it', make(0)]],
  ['a claim that is there is used again', { set: set(data), claims: [claim('data-web-0')] }, [make(0)]],
  ['one that has ended is made again under its name', { pods: [pod(0, 'Failed'), pod(1)] }, ['delete Pod default/web-0: it is Failed']],
  ['one that is going keeps its name', { pods: [pod(0, 'ready', 'hash2', deleting)] }, [`${STATUS} 1 Pods, 0 ready`]],
  ['too many: the highest goes', { pods: [pod(0), pod(1), pod(2), pod(3)] }, ['delete Pod default/web-3: 2 are wanted']],
  ['one at a time', { pods: [pod(0), pod(1), pod(2), pod(3, 'ready', 'hash2', deleting)] }, [`${STATUS} 4 Pods, 3 ready`]],
  ['none while one that is wanted does not serve', { pods: [pod(0), pod(1, 'unready'), pod(2)] }, [`${STATUS} 3 Pods, 2 ready`]],
  [
    'Parallel: all of them',
    { set: set({ ...parallel, replicas: 1 }), pods: [pod(0), pod(1), pod(2)] },
    ['delete Pod default/web-2: 1 are wanted', 'delete Pod default/web-1: 1 are wanted'],
  ],
  [
    'an old template: the highest number first',
    { pods: [pod(0, 'ready', 'hash1'), pod(1, 'ready', 'hash1')] },
    ['delete Pod default/web-1: it is of an old template'],
  ],
  ['the next when that one serves', { pods: [pod(0, 'ready', 'hash1'), pod(1)] }, ['delete Pod default/web-0: it is of an old template']],
  ['not below the partition', { set: set(partition(1)), pods: [pod(0, 'ready', 'hash1'), pod(1)] }, [`${STATUS} 2 Pods, 2 ready`]],
  [
    'OnDelete: they stay',
    { set: set({ updateStrategy: { type: 'OnDelete' } }), pods: [pod(0, 'ready', 'hash1'), pod(1, 'ready', 'hash1')] },
    [`${STATUS} 2 Pods, 2 ready`],
  ],
  [
    'claims of Pods that are not wanted stay',
    { set: set(data), pods: [pod(0), pod(1)], claims: [claim('data-web-0'), claim('data-web-1'), claim('data-web-2')] },
    [`${STATUS} 2 Pods, 2 ready`],
  ],
  [
    'unless the set says that they go',
    {
      set: set({ ...data, persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete' } }),
      pods: [pod(0), pod(1)],
      claims: [claim('data-web-1'), claim('data-web-2')],
    },
    ['delete PersistentVolumeClaim default/data-web-2: its Pod is not wanted any more'],
  ],
  [
    'an orphan with one of its names is adopted',
    { pods: [podOf(undefined, 'web-0')] },
    ['patch Pod default/web-0: StatefulSet web adopts it'],
  ],
  ['one with another name is not', { pods: [podOf(undefined, 'other')] }, [make(0)]],
  ['being deleted: nothing', { set: set({}, {}, deleting), pods: [pod(0)] }, []],
];

describe('decideStatefulSet', () => {
  for (const [name, part, expected] of cases) test(name, () => assert.deepEqual(said(decideStatefulSet(observed(part))), expected));
});

test('below the partition a Pod is made from the revision that was current', () => {
  const [action] = decideStatefulSet(observed({ set: set(partition(1), { currentRevision: 'web-hash1' }) })).actions;
  const made = action?.do === 'create' ? (action.object as Pod) : undefined;
  assert.deepEqual([made?.spec.containers[0]?.image, made?.metadata.labels?.['controller-revision-hash']], ['nothing:1', 'hash1']);
});

test('the status: an update that is over is the current revision', () => {
  const statusOf = (pods: readonly Pod[]) => {
    const [action] = decideStatefulSet(observed({ set: set(partition(0), { currentRevision: 'web-hash1' }), pods })).actions;
    return action?.do === 'patch' ? (action.patch as { status: StatefulSetStatus }).status : undefined;
  };
  assert.deepEqual(statusOf([pod(0), pod(1)]), {
    observedGeneration: 1,
    replicas: 2,
    readyReplicas: 2,
    availableReplicas: 2,
    currentReplicas: 2,
    updatedReplicas: 2,
    currentRevision: 'web-hash2',
    updateRevision: 'web-hash2',
    collisionCount: 0,
  });
  assert.equal(statusOf([pod(0), pod(1, 'unready')])?.currentRevision, undefined, 'as it was');
});

test('a set with a name that begins like another has claims of its own', () => {
  assert.deepEqual(
    ['data-web-2', 'data-web-2-0', 'other-web-2'].map((name) => isClaimOf(set(data), claim(name))),
    [true, false, false],
  );
});

describe('a number of replicas that anybody may write costs a pass no more than the Pods that are there', () => {
  const huge = { ...data, replicas: 2 ** 31 - 1, ordinals: { start: 2 ** 31 - 1 } };
  const created = (part: Partial<ObservedStatefulSet>) =>
    decideStatefulSet(observed(part)).actions.filter((action) => action.do === 'create');

  test('OrderedReady begins with the first', () =>
    assert.deepEqual(
      created({ set: set(huge) }).map(({ object }) => object.metadata.name),
      ['data-web-2147483647', 'web-2147483647'],
    ));

  test('and knows the Pod that it has made', () => assert.deepEqual(created({ set: set(huge), pods: [pod(2 ** 31 - 1, 'unready')] }), []));

  test('Parallel makes some hundred in one pass', () => assert.equal(created({ set: set({ ...huge, ...parallel }) }).length, 500));

  test('what is beyond them goes some hundred at a time', () => {
    const pods = Array.from({ length: 1_000 }, (_, number) => pod(number));
    assert.equal(decideStatefulSet(observed({ set: set({ ...parallel, replicas: 0 }), pods })).actions.length, 500);
  });

  test('claims that go with their Pods are told from the range', () => {
    const persistentVolumeClaimRetentionPolicy = { whenScaled: 'Delete' as const };
    const claims = ['data-web-0', 'data-web-2', 'data-web-2147483646'].map(claim);
    assert.deepEqual(
      said(decideStatefulSet(observed({ set: set({ ...data, persistentVolumeClaimRetentionPolicy }), pods: [pod(0), pod(1)], claims }))),
      [
        'delete PersistentVolumeClaim default/data-web-2: its Pod is not wanted any more',
        'delete PersistentVolumeClaim default/data-web-2147483646: its Pod is not wanted any more',
      ],
    );
  });
});
