import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  ANNOTATION_DESIRED_REPLICAS,
  ANNOTATION_MAX_REPLICAS,
  ANNOTATION_REVISION,
  type Deployment,
  type DeploymentStatus,
} from '../../../api/core/deployment.ts';
import type { ReplicaSet, ReplicaSetStatus } from '../../../api/core/replica-set.ts';
import { conditionOf, controllerReferenceTo, type ObjectMeta } from '../../../api/meta.ts';
import { timestamp } from '../../../base/timestamp.ts';
import { deleting, labels, meta, NOW, podOf, said, template } from '../builders.testing.ts';
import { decideDeployment } from './decide.ts';
import type { ObservedDeployment } from './observed.ts';
import { revisionsOf } from './revisions.ts';
import { deriveDeploymentStatus } from './status.ts';

function deployment(spec: Partial<Deployment['spec']> = {}, status: DeploymentStatus = {}, metadata: Partial<ObjectMeta> = {}): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: meta('web', { annotations: { [ANNOTATION_REVISION]: '2' }, ...metadata }),
    spec: {
      replicas: 4,
      selector: { matchLabels: labels },
      template: template('nothing:2'),
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
      ...spec,
    },
    status,
  };
}

type Made = {
  readonly size: number;
  readonly status?: ReplicaSetStatus;
  readonly image: string;
  readonly revision: number;
  readonly wanted?: number;
};

function set(name: string, { size, status = {}, image, revision, wanted = 4 }: Made, metadata: Partial<ObjectMeta> = {}): ReplicaSet {
  const annotations = {
    [ANNOTATION_REVISION]: `${revision}`,
    [ANNOTATION_DESIRED_REPLICAS]: `${wanted}`,
    [ANNOTATION_MAX_REPLICAS]: `${wanted + Math.ceil(wanted / 4)}`,
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: meta(name, { labels, annotations, ownerReferences: [controllerReferenceTo(deployment())], ...metadata }),
    spec: { replicas: size, selector: { matchLabels: labels }, template: template(image) },
    status,
  };
}

const at = (n: number): ReplicaSetStatus => ({ replicas: n, readyReplicas: n, availableReplicas: n, observedGeneration: 1 });
const old = (size: number, available = size, more: Partial<Made> = {}) =>
  set(
    'web-old',
    { size, status: { ...at(available), replicas: size }, image: 'nothing:1', revision: 1, ...more },
    { creationTimestamp: '2025-01-01T00:00:00Z' },
  );
const current = (size: number, available = size, more: Partial<Made> = {}) =>
  set('web-new', { size, status: { ...at(available), replicas: size }, image: 'nothing:2', revision: 2, ...more });

function observed(part: Partial<ObservedDeployment> = {}): ObservedDeployment {
  return { deployment: deployment(), replicaSets: [], pods: [], holder: undefined, mayAdopt: true, now: NOW, ...part };
}

const STATUS = 'patch Deployment status default/web: its ReplicaSets have changed';
const recreate = { strategy: { type: 'Recreate' as const } };

/** What happens to the sets; the status is asked for below. */
const cases: [string, Partial<ObservedDeployment>, string[]][] = [
  ['an empty selector is everybody: nothing is done', { deployment: deployment({ selector: {} }) }, []],
  ['a new template gets a set of its own', {}, ['create ReplicaSet default/web-*: the template has no ReplicaSet']],
  [
    'with only so many Pods as there is room for',
    { replicaSets: [old(4)] },
    ['create ReplicaSet default/web-*: the template has no ReplicaSet'],
  ],
  [
    'a name that somebody has is not asked for',
    { holder: set('web-x', { size: 1, image: 'nothing:3', revision: 1 }, { ownerReferences: [] }) },
    [],
  ],
  ['there is room: the new set grows', { replicaSets: [old(3), current(1)] }, ['patch ReplicaSet default/web-new: 2 Pods of it, 4 in all']],
  [
    'no room, and enough are available: the old set shrinks',
    { replicaSets: [old(4), current(1)] },
    ['patch ReplicaSet default/web-old: 2 Pods of it, 4 in all'],
  ],
  ['no room, and no more than have to be are available: wait', { replicaSets: [old(3), current(2, 0)] }, []],
  [
    'old Pods that serve nobody go first',
    { replicaSets: [old(4, 2), current(1, 1)] },
    ['patch ReplicaSet default/web-old: 2 Pods of it, 4 in all'],
  ],
  ['an old Pod is still there: the new set waits', { replicaSets: [old(3, 3, { status: at(4) }), current(1, 0)] }, []],
  [
    'nobody knows yet what an old set has: the new set waits',
    { replicaSets: [{ ...old(3), metadata: { ...old(3).metadata, generation: 2 } }, current(1, 0)] },
    [],
  ],
  [
    'scaled while an old Pod is still there: both wait',
    { deployment: deployment({ replicas: 6 }), replicaSets: [old(3, 3, { status: at(6) }), current(2)] },
    [],
  ],
  [
    'scaled down while an old Pod is still there: both shrink',
    { deployment: deployment({ replicas: 2 }), replicaSets: [old(2, 2, { status: at(4) }), current(2)] },
    ['patch ReplicaSet default/web-old: 0 Pods of it, 2 in all', 'patch ReplicaSet default/web-new: 2 Pods of it, 2 in all'],
  ],
  ['all is rolled out', { replicaSets: [old(0), current(4)] }, []],
  [
    'old revisions beyond the limit go',
    { deployment: deployment({ revisionHistoryLimit: 0 }), replicaSets: [old(0), current(4)] },
    ['delete ReplicaSet default/web-old: 1 old revisions, 0 are kept'],
  ],
  [
    'back to an old template: its set is the newest again',
    { deployment: deployment({ template: template('nothing:1') }), replicaSets: [old(0), current(4)] },
    ['patch ReplicaSet default/web-old: it is revision 3 now'],
  ],
  [
    'a note of the Deployment is noted on the set',
    {
      deployment: deployment({}, {}, { annotations: { [ANNOTATION_REVISION]: '2', 'kubernetes.io/change-cause': 'why not' } }),
      replicaSets: [current(4)],
    },
    ['patch ReplicaSet default/web-new: the Deployment says so'],
  ],
  ['paused: nothing new', { deployment: deployment({ paused: true }), replicaSets: [old(4)] }, []],
  [
    'paused, and scaled',
    { deployment: deployment({ paused: true, replicas: 6 }), replicaSets: [old(4)] },
    ['patch ReplicaSet default/web-old: 6 Pods of it, 6 in all'],
  ],
  [
    'scaled',
    { deployment: deployment({ replicas: 6 }), replicaSets: [current(4)] },
    ['patch ReplicaSet default/web-new: 6 Pods of it, 6 in all'],
  ],
  [
    'scaled in the middle of a rollout: both share it',
    { deployment: deployment({ replicas: 8 }), replicaSets: [old(3), current(2)] },
    ['patch ReplicaSet default/web-old: 6 Pods of it, 8 in all', 'patch ReplicaSet default/web-new: 4 Pods of it, 8 in all'],
  ],
  [
    'scaled to nothing in the middle of a rollout',
    { deployment: deployment({ replicas: 0 }), replicaSets: [old(3), current(2)] },
    ['patch ReplicaSet default/web-old: 0 Pods of it, 0 in all', 'patch ReplicaSet default/web-new: 0 Pods of it, 0 in all'],
  ],
  [
    'the number is right already: only noted',
    { deployment: deployment({ replicas: 5 }), replicaSets: [current(5)] },
    ['patch ReplicaSet default/web-new: 5 Pods of it, 5 in all'],
  ],
  [
    'Recreate: old Pods go first',
    { deployment: deployment(recreate), replicaSets: [old(4)] },
    ['patch ReplicaSet default/web-old: 0 Pods of it, 4 in all'],
  ],
  [
    'Recreate: one is still going',
    { deployment: deployment(recreate), replicaSets: [old(0)], pods: [podOf(old(0), 'last', 'ready', deleting)] },
    [],
  ],
  [
    'Recreate: none is left',
    { deployment: deployment(recreate), replicaSets: [old(0)] },
    ['create ReplicaSet default/web-*: the template has no ReplicaSet'],
  ],
  [
    'an orphan that fits is adopted',
    { replicaSets: [set('web-lost', { size: 1, image: 'nothing:1', revision: 1 }, { ownerReferences: [] })] },
    ['patch ReplicaSet default/web-lost: Deployment web adopts it'],
  ],
  [
    'one whose labels no longer fit is released',
    { replicaSets: [set('web-odd', { size: 1, image: 'nothing:1', revision: 1 }, { labels: {} })] },
    ['patch ReplicaSet default/web-odd: it no longer fits Deployment web'],
  ],
  ['being deleted: nothing is made', { deployment: deployment({}, {}, deleting) }, []],
];

describe('decideDeployment', () => {
  for (const [name, part, expected] of cases) {
    test(name, () => {
      const lines = said(decideDeployment(observed(part)));
      assert.deepEqual(
        lines.filter((line) => line !== STATUS && !line.startsWith('look again')),
        expected,
      );
    });
  }
});

test('the first set has the whole number, one beside old ones what the surge allows', () => {
  const sizes = [[], [old(4)]].map((replicaSets) => {
    const [action] = decideDeployment(observed({ replicaSets })).actions;
    return action?.do === 'create' ? (action.object as ReplicaSet).spec.replicas : undefined;
  });
  assert.deepEqual(sizes, [4, 1]);
});

test('a name that another has is counted, so that the next hash is another', () => {
  const holder = set('web-x', { size: 1, image: 'nothing:3', revision: 1 }, { ownerReferences: [] });
  const [action] = decideDeployment(observed({ holder })).actions;
  assert.equal(action?.do === 'patch' && (action.patch as { status: DeploymentStatus }).status.collisionCount, 1);
});

test('going back notes the number that the set had', () => {
  const [action] = decideDeployment(
    observed({ deployment: deployment({ template: template('nothing:1') }), replicaSets: [old(0), current(4)] }),
  ).actions;
  const patch = action?.do === 'patch' ? (action.patch as { metadata: ObjectMeta }) : undefined;
  assert.equal(patch?.metadata.annotations?.['deployment.kubernetes.io/revision-history'], '1');
});

describe('what Progressing says', () => {
  const progressing = (
    reason: string,
    status: 'True' | 'False' | 'Unknown' = 'True',
    lastUpdateTime = timestamp(NOW),
  ): DeploymentStatus => ({
    conditions: [{ type: 'Progressing', status, reason, lastUpdateTime, lastTransitionTime: lastUpdateTime }],
  });
  const reasonOf = (of: Deployment, replicaSets: readonly ReplicaSet[], options: { now?: number; made?: string } = {}) => {
    const status = deriveDeploymentStatus({ deployment: of, revisions: revisionsOf(of, replicaSets), now: NOW, ...options });
    return conditionOf(status.conditions, 'Progressing')?.reason;
  };
  const late = { now: NOW + 601_000 };
  const rows: [string, string | undefined][] = [
    ['NewReplicaSetCreated', reasonOf(deployment(), [], { made: 'web-new' })],
    ['FoundNewReplicaSet', reasonOf(deployment(), [current(0)])],
    ['ReplicaSetUpdated', reasonOf(deployment(), [old(3), current(1)])],
    ['NewReplicaSetAvailable', reasonOf(deployment(), [current(4)])],
    ['DeploymentPaused', reasonOf(deployment({ paused: true }), [current(4)])],
    ['DeploymentResumed', reasonOf(deployment({}, progressing('DeploymentPaused', 'Unknown')), [current(4)])],
    ['NewReplicaSetCreated', reasonOf(deployment({}, progressing('NewReplicaSetCreated')), [current(4, 0, { status: {} })])],
    ['ProgressDeadlineExceeded', reasonOf(deployment({}, progressing('NewReplicaSetCreated')), [current(4, 0, { status: {} })], late)],
    ['NewReplicaSetAvailable', reasonOf(deployment({}, progressing('ProgressDeadlineExceeded', 'False')), [current(4)], late)],
    ['NewReplicaSetAvailable', reasonOf(deployment({}, progressing('NewReplicaSetAvailable')), [current(4, 0, { status: {} })], late)],
  ];
  for (const [expected, actual] of rows) test(expected, () => assert.equal(actual, expected));
  test('nothing, where there is no deadline', () => {
    assert.equal(reasonOf(deployment({ progressDeadlineSeconds: 2 ** 31 - 1 }), [current(4)]), undefined);
  });
});
