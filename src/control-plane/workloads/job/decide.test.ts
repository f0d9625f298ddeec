import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Job, JobSpec, JobStatus } from '../../../api/core/job.ts';
import type { Pod } from '../../../api/core/pod.ts';
import type { ObjectMeta } from '../../../api/meta.ts';
import { timestamp } from '../../../base/timestamp.ts';
import { deleting, labels, meta, NOW, podOf, said, template } from '../builders.testing.ts';
import { decideJob } from './decide.ts';
import { decideLostPod } from './decide-lost-pod.ts';
import { decideTtl } from './decide-ttl.ts';
import { indexesText, parseIndexes } from './indexes.ts';
import type { ObservedJob } from './observed.ts';

const NEVER = { ...template(), spec: { ...template().spec, restartPolicy: 'Never' as const } };
const tracked = { finalizers: ['batch.kubernetes.io/job-tracking'] };
const begun: JobStatus = { startTime: timestamp(NOW), ready: 0, terminating: 0, uncountedTerminatedPods: {} };

function job(spec: Partial<JobSpec> = {}, status: JobStatus = begun, metadata: Partial<ObjectMeta> = {}): Job {
  const whole = { completions: 2, parallelism: 1, selector: { matchLabels: labels }, template: NEVER, ...spec };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: meta('work', metadata), spec: whole, status };
}
const mine = (name: string, state: Parameters<typeof podOf>[2] = 'ready', metadata: Partial<ObjectMeta> = tracked) =>
  podOf(job(), name, state, metadata);
const index = (pod: Pod, n: number): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, annotations: { 'batch.kubernetes.io/job-completion-index': `${n}` } },
});
const restarted = (pod: Pod, restartCount: number): Pod => ({
  ...pod,
  status: { ...pod.status, containerStatuses: [{ name: 'main', image: '', imageID: '', ready: true, restartCount }] },
});
const ended = (type: 'Complete' | 'Failed'): JobStatus => ({
  ...begun,
  conditions: [{ type, status: 'True', lastTransitionTime: timestamp(NOW) }],
});

function observed(part: Partial<ObservedJob> = {}): ObservedJob {
  return { job: job(), pods: [], mayAdopt: true, taken: new Set(), now: NOW, ...part };
}

const says = (active: number, succeeded: number, failed: number) =>
  `patch Job status default/work: ${active} run, ${succeeded} have succeeded, ${failed} have failed`;
const make = (active: number, succeeded: number) => `create Pod default/work-*: ${active} run, ${succeeded} have succeeded`;
const noted = (succeeded: string[], failed: string[] = []): JobStatus => ({ ...begun, uncountedTerminatedPods: { succeeded, failed } });

const cases: [string, Partial<ObservedJob>, string[]][] = [
  ['no selector: nothing', { job: job({ selector: {} }) }, []],
  ['somebody else manages it: nothing', { job: job({ ...({ managedBy: 'ex.io/us' } as object) }) }, []],
  ['a new Job notes when it begins, and begins', { job: job({}, {}) }, [says(0, 0, 0), make(0, 0)]],
  ['no more than parallelism at once', { job: job({ completions: 9, parallelism: 2 }) }, [make(0, 0), make(0, 0)]],
  ['no more than are missing', { job: job({ completions: 1, parallelism: 5 }) }, [make(0, 0)]],
  ['one runs: it is said', { pods: [mine('a')] }, [says(1, 0, 0)]],
  ['one has ended: first it is noted, and the next begins', { pods: [mine('a', 'Succeeded')] }, [says(0, 1, 0), make(0, 1)]],
  [
    'it is noted: its finalizer goes',
    { job: job({}, { ...noted(['uid-a']), active: 1, ready: 1 }), pods: [mine('a', 'Succeeded'), mine('b')] },
    [says(1, 1, 0), 'patch Pod default/a: it is noted in the status'],
  ],
  [
    'its finalizer is gone: it is counted',
    { job: job({}, noted(['uid-a'])), pods: [mine('a', 'Succeeded', {})] },
    [says(0, 1, 0), make(0, 1)],
  ],
  ['so is one that is gone', { job: job({}, noted(['uid-a'])) }, [says(0, 1, 0), make(0, 1)]],
  ['all have succeeded and are counted: it is over', { job: job({}, { ...begun, succeeded: 2 }) }, [says(0, 2, 0)]],
  [
    'one that somebody deletes has failed',
    { job: job({ backoffLimit: 0 }), pods: [mine('a', 'ready', { ...tracked, ...deleting })] },
    [says(0, 0, 1)],
  ],
  ['a failure: the next comes after ten seconds', { pods: [mine('a', 'Failed')] }, [says(0, 0, 1), 'look again in 10s']],
  [
    'after the second twenty',
    { job: job({}, { ...begun, failed: 2 }), pods: [mine('a', 'Failed', {}), mine('b', 'Failed', {})], now: NOW + 15_000 },
    ['look again in 5s'],
  ],
  ['then it comes', { job: job({}, { ...begun, failed: 1 }), pods: [mine('a', 'Failed', {})], now: NOW + 10_000 }, [make(0, 0)]],
  [
    'too many have failed: what runs goes',
    { job: job({ backoffLimit: 1, parallelism: 2 }, { ...begun, failed: 2 }), pods: [mine('a')] },
    [says(1, 0, 2), 'delete Pod default/a: BackoffLimitExceeded'],
  ],
  [
    'restarts count where the kubelet restarts',
    {
      job: job({ backoffLimit: 2, template: { ...NEVER, spec: { ...NEVER.spec, restartPolicy: 'OnFailure' } } }),
      pods: [restarted(mine('a'), 2)],
    },
    [says(1, 0, 0), 'delete Pod default/a: BackoffLimitExceeded'],
  ],
  [
    'its time is over',
    { job: job({ activeDeadlineSeconds: 5 }), pods: [mine('a')], now: NOW + 5000 },
    [says(1, 0, 0), 'delete Pod default/a: DeadlineExceeded'],
  ],
  [
    'its time is not over yet',
    { job: job({ activeDeadlineSeconds: 5 }, { ...begun, active: 1, ready: 1 }), pods: [mine('a')], now: NOW + 1000 },
    ['look again in 4s'],
  ],
  [
    'suspended: what runs goes, and does not count',
    { job: job({ suspend: true }), pods: [mine('a')] },
    [says(1, 0, 0), 'patch Pod default/a: the Job is suspended', 'delete Pod default/a: the Job is suspended'],
  ],
  [
    'less parallelism: one goes, and does not count',
    { job: job({ completions: 5 }), pods: [mine('a'), mine('b', 'unready')] },
    [says(2, 0, 0), 'patch Pod default/b: 2 run, 1 are wanted', 'delete Pod default/b: 2 run, 1 are wanted'],
  ],
  [
    'no completions: one success is enough, the others end by themselves',
    { job: job({ completions: undefined, parallelism: 2 }), pods: [mine('a', 'Succeeded'), mine('b')] },
    [says(1, 1, 0)],
  ],
  [
    'it has ended: its Pods are let go',
    { job: job({}, ended('Complete')), pods: [mine('a', 'Succeeded')] },
    ['patch Pod default/a: the Job has ended'],
  ],
  ['it is being deleted: the same', { job: job({}, begun, deleting), pods: [mine('a')] }, ['patch Pod default/a: the Job has ended']],
  ['an orphan is adopted', { pods: [podOf(undefined, 'lost')] }, ['patch Pod default/lost: Job work adopts it']],
  [
    'numbers that are free',
    { job: job({ completionMode: 'Indexed', parallelism: 2 }), pods: [index(mine('a'), 0)] },
    [says(1, 0, 0), 'create Pod default/work-1-*: 1 run, 0 have succeeded'],
  ],
];

describe('decideJob', () => {
  for (const [name, part, expected] of cases) test(name, () => assert.deepEqual(said(decideJob(observed(part))), expected));
});

test('a Job that is over says so, with the reason and the time', () => {
  const statusOf = (of: Job, pods: readonly Pod[] = []) => {
    const [action] = decideJob(observed({ job: of, pods, now: NOW + 1000 })).actions;
    const { status } = action?.do === 'patch' ? (action.patch as { status: JobStatus }) : { status: {} };
    return [status.conditions?.map(({ type, reason }) => `${type} ${reason}`), status.completionTime];
  };
  assert.deepEqual(statusOf(job({}, { ...begun, succeeded: 2 })), [
    ['SuccessCriteriaMet CompletionsReached', 'Complete CompletionsReached'],
    '2026-01-01T00:00:01Z',
  ]);
  const failing = job({ backoffLimit: 0 }, { ...begun, failed: 1 });
  assert.deepEqual(statusOf(failing, [mine('a')]), [['FailureTarget BackoffLimitExceeded'], undefined]);
  assert.deepEqual(statusOf(failing), [['FailureTarget BackoffLimitExceeded', 'Failed BackoffLimitExceeded'], undefined]);
});

test('an Indexed Job finishes each number once, however many Pods do it', () => {
  const indexed = job({ completionMode: 'Indexed', completions: 3, parallelism: 3 }, { ...begun, completedIndexes: '0', succeeded: 1 });
  const pods = [
    index(mine('a', 'Succeeded'), 0),
    index(mine('b', 'Succeeded'), 1),
    index(mine('c', 'Succeeded'), 1),
    index(mine('d', 'Succeeded'), 7),
  ];
  const [status, ...rest] = decideJob(observed({ job: indexed, pods })).actions;
  assert.deepEqual(status?.do === 'patch' && status.patch, { status: { completedIndexes: '0-1', succeeded: 2 } });
  assert.deepEqual(
    rest.map((action) => action.do),
    ['patch', 'create'],
  );
});

test('numbers as text', () => {
  assert.equal(indexesText(new Set([5, 0, 1, 2, 7])), '0-2,5,7');
  assert.deepEqual([...parseIndexes('0-2,5,7-99', 9)], [0, 1, 2, 5, 7, 8]);
});

test('a Job goes when its time has come, and no sooner', () => {
  const over = job({ ttlSecondsAfterFinished: 5 }, ended('Failed'));
  assert.deepEqual(said(decideTtl({ job: over, now: NOW + 2000 })), ['look again in 3s']);
  assert.deepEqual(said(decideTtl({ job: over, now: NOW + 5000 })), ['delete Job default/work: it ended 5 s ago']);
  assert.deepEqual(said(decideTtl({ job: job({ ttlSecondsAfterFinished: 0 }), now: NOW })), []);
  assert.deepEqual(said(decideTtl({ job: job({}, ended('Complete')), now: NOW })), []);
});

test('a Pod is let go when its Job is gone, and only then', () => {
  assert.deepEqual(said(decideLostPod({ pod: mine('a'), hasJob: true })), []);
  assert.deepEqual(said(decideLostPod({ pod: mine('a'), hasJob: false })), ['patch Pod default/a: its Job is gone']);
  assert.deepEqual(said(decideLostPod({ pod: mine('a', 'ready', {}), hasJob: false })), []);
});
