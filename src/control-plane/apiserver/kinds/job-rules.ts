/** Jobs and CronJobs: the labels by which a Job finds its Pods, what cannot change, and what is not done here. */
import type { CronJob, Job, JobSpec } from '../../../api/core/job.ts';
import { forbiddenCause, invalidCause, requiredCause, unsupportedCause } from '../../../base/causes.ts';
import { CRON_WHY, parseCron } from '../../../base/cron.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { matchesLabels, requirementsOf } from '../../../base/selectors.ts';
import { isTimeZone } from '../../../base/time-zone.ts';
import type { AnyObject, Strategy } from '../types/resource-type.ts';
import { immutableFields } from './immutable-fields.ts';

const CONTROLLER_UID = 'batch.kubernetes.io/controller-uid';
const JOB_NAME = 'batch.kubernetes.io/job-name';
/** Before they had a prefix; kubectl still selects by them. */
const OLD_CONTROLLER_UID = 'controller-uid';
const OLD_JOB_NAME = 'job-name';
/** What a Job may ask for and nobody here would do. */
const NOT_DONE = ['podFailurePolicy', 'successPolicy', 'backoffLimitPerIndex', 'maxFailedIndexes'] as const;
const LONGEST_CRON_NAME = 52;
const NEGATIVE = 'must be greater than or equal to 0';
/** More would be a list of numbers in every status that nobody can read. */
const MOST_INDEXES = 100_000;

const fixed = immutableFields('spec.completions', 'spec.selector', 'spec.template', 'spec.completionMode').validate ?? (() => []);

export const jobStrategy: Strategy = {
  prepareCreate: (object) => withControllerLabels(object),
  validate(object, old, subresource) {
    if (subresource === 'status') return [];
    const { spec } = object as unknown as Job; // its shape was checked by the schema
    if (!spec?.template) return [requiredCause('spec.template')];
    return [...jobCauses(spec, 'spec'), ...selectorCauses(spec), ...(old ? fixed(object, old, subresource) : [])];
  },
};

export const cronJobStrategy: Strategy = {
  validate(object, _old, subresource) {
    if (subresource === 'status') return [];
    const { metadata, spec } = object as unknown as CronJob; // as above
    if (!spec?.jobTemplate?.spec?.template) return [requiredCause('spec.jobTemplate')];
    const causes = jobCauses(spec.jobTemplate.spec, 'spec.jobTemplate.spec');
    if (metadata.name.length > LONGEST_CRON_NAME)
      causes.push(invalidCause('metadata.name', metadata.name, `must be no more than ${LONGEST_CRON_NAME} characters`));
    if (!spec.schedule) causes.push(requiredCause('spec.schedule'));
    else if (!parseCron(spec.schedule)) causes.push(invalidCause('spec.schedule', spec.schedule, CRON_WHY));
    if (spec.timeZone !== undefined && !isTimeZone(spec.timeZone))
      causes.push(invalidCause('spec.timeZone', spec.timeZone, `unknown time zone ${spec.timeZone}`));
    for (const field of ['startingDeadlineSeconds', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit'] as const)
      causes.push(...atLeastZero(`spec.${field}`, spec[field]));
    return causes;
  },
};

/** Pods of a Job are told by its uid, which nobody else has; whoever says `manualSelector` knows better. */
function withControllerLabels(object: AnyObject): AnyObject {
  const { metadata, spec } = object as unknown as Job; // as above
  if (!spec?.template || spec.manualSelector) return object;
  const uid = metadata.uid ?? '';
  const labels = {
    ...spec.template.metadata?.labels,
    [CONTROLLER_UID]: uid,
    [JOB_NAME]: metadata.name,
    [OLD_CONTROLLER_UID]: uid,
    [OLD_JOB_NAME]: metadata.name,
  };
  const selector = { matchLabels: { [CONTROLLER_UID]: uid } };
  const template = { ...spec.template, metadata: { ...spec.template.metadata, labels } };
  // A Job without labels has those of its template, and where that has none those that were just added.
  const ownLabels = metadata.labels ?? spec.template.metadata?.labels ?? labels;
  return { ...object, metadata: { ...metadata, labels: ownLabels }, spec: { ...spec, selector, template } };
}

function selectorCauses({ selector, template }: JobSpec): StatusCause[] {
  const requirements = requirementsOf(selector ?? {});
  if (requirements.length === 0) return [requiredCause('spec.selector')];
  const labels = template.metadata?.labels ?? {};
  return matchesLabels(requirements, labels)
    ? []
    : [invalidCause('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')];
}

function jobCauses(spec: JobSpec, at: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const { restartPolicy = 'Always' } = spec.template.spec ?? {};
  if (restartPolicy === 'Always') causes.push(unsupportedCause(`${at}.template.spec.restartPolicy`, restartPolicy, ['OnFailure', 'Never']));
  for (const field of ['parallelism', 'completions', 'backoffLimit', 'activeDeadlineSeconds', 'ttlSecondsAfterFinished'] as const)
    causes.push(...atLeastZero(`${at}.${field}`, spec[field]));
  if (spec.completionMode === 'Indexed') {
    if (spec.completions === undefined) causes.push(requiredCause(`${at}.completions`, 'when completion mode is Indexed'));
    else if (spec.completions > MOST_INDEXES)
      causes.push(invalidCause(`${at}.completions`, spec.completions, `must be less than or equal to ${MOST_INDEXES}`));
  }
  for (const field of NOT_DONE)
    if (field in spec) causes.push(forbiddenCause(`${at}.${field}`, 'the embedded cluster does not have this; a real Kubernetes does'));
  return causes;
}

function atLeastZero(field: string, value: number | undefined): StatusCause[] {
  return value !== undefined && value < 0 ? [invalidCause(field, value, NEGATIVE)] : [];
}
