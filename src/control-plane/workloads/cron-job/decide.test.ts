import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CronJob, CronJobStatus, Job } from '../../../api/core/job.ts';
import { controllerReferenceTo, type ObjectMeta } from '../../../api/meta.ts';
import { timestamp } from '../../../base/timestamp.ts';
import { deleting, meta, NOW, said, template } from '../builders.testing.ts';
import { decideCronJob } from './decide.ts';
import type { ObservedCronJob } from './observed.ts';

const HOUR = 3_600_000;
const minutes = (at: number) => Math.floor(at / 60_000);

function cronJob(spec: Partial<CronJob['spec']> = {}, status: CronJobStatus = {}, metadata: Partial<ObjectMeta> = {}): CronJob {
  const whole = { schedule: '0 * * * *', jobTemplate: { spec: { template: template() } }, ...spec };
  return { apiVersion: 'batch/v1', kind: 'CronJob', metadata: meta('tick', metadata), spec: whole, status };
}

function job(at: number, end?: 'Complete' | 'Failed'): Job {
  const time = timestamp(at);
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: meta(`tick-${minutes(at)}`, { ownerReferences: [controllerReferenceTo(cronJob())] }),
    spec: { template: template() },
    status: end
      ? { conditions: [{ type: end, status: 'True', lastTransitionTime: time }], ...(end === 'Complete' && { completionTime: time }) }
      : {},
  };
}

const status = (running: number) => `patch CronJob status default/tick: ${running} run`;
const now = NOW + HOUR + 60_000;
const made = `create Job default/tick-${minutes(NOW + HOUR)}: it is 2026-01-01T01:00:00Z`;
const done: CronJobStatus = { lastScheduleTime: timestamp(NOW + HOUR) };
const again = 'look again in 3540s';

const cases: [string, Partial<ObservedCronJob>, string[]][] = [
  ['its time has not come', { now: NOW + 60_000 }, [again]],
  ['its time has come: the Job, then the note', {}, [made, status(0), again]],
  [
    'of many missed times only the last',
    { now: NOW + 5 * HOUR + 60_000 },
    [`create Job default/tick-${minutes(NOW + 5 * HOUR)}: it is 2026-01-01T05:00:00Z`, status(0), again],
  ],
  ['it was made already, and not noted', { jobs: [job(NOW + HOUR)] }, [status(1), again]],
  ['it was made and noted', { cronJob: cronJob({}, done), now }, [again]],
  ['suspended', { cronJob: cronJob({ suspend: true }) }, []],
  ['too late', { cronJob: cronJob({ startingDeadlineSeconds: 30 }) }, ['record event MissSchedule: it is too late', status(0), again]],
  ['not too late', { cronJob: cronJob({ startingDeadlineSeconds: 90 }) }, [made, status(0), again]],
  ['Allow: two at once', { jobs: [job(NOW)] }, [made, status(1), again]],
  [
    'Forbid: the other first',
    { cronJob: cronJob({ concurrencyPolicy: 'Forbid' }), jobs: [job(NOW)] },
    ['record event JobAlreadyActive: one runs', status(1), again],
  ],
  [
    'Forbid: the other has ended',
    { cronJob: cronJob({ concurrencyPolicy: 'Forbid' }), jobs: [job(NOW, 'Complete')] },
    [made, status(0), again],
  ],
  [
    'Replace: the other goes',
    { cronJob: cronJob({ concurrencyPolicy: 'Replace' }), jobs: [job(NOW)] },
    [`delete Job default/tick-${minutes(NOW)}: the next one takes its place`, made, status(1), again],
  ],
  [
    'the oldest that have ended go, by what became of them',
    {
      cronJob: cronJob({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0, suspend: true }),
      jobs: [job(NOW + 2, 'Complete'), job(NOW - HOUR, 'Complete'), job(NOW - 2 * HOUR, 'Failed')],
    },
    [
      `delete Job default/tick-${minutes(NOW - 2 * HOUR)}: enough of those that have ended are kept`,
      `delete Job default/tick-${minutes(NOW - HOUR)}: enough of those that have ended are kept`,
      status(0),
    ],
  ],
  ['being deleted', { cronJob: cronJob({}, {}, deleting) }, []],
  [
    'in its own time zone',
    { cronJob: cronJob({ schedule: '30 6 * * *', timeZone: 'Asia/Kolkata' }) },
    [made, status(0), 'look again in 3600s'],
  ],
  ['a time that never comes', { cronJob: cronJob({ schedule: '0 0 31 2 *' }) }, []],
];

describe('decideCronJob', () => {
  for (const [name, part, expected] of cases)
    test(name, () => assert.deepEqual(said(decideCronJob({ cronJob: cronJob(), jobs: [], now, ...part })), expected));
});
