/** The Pods of a Job: what is added to its template. Pure. */
import type { Job } from '../../../api/core/job.ts';
import type { Container, Pod } from '../../../api/core/pod.ts';
import { podFrom } from '../pod-state.ts';
import { ANNOTATION_COMPLETION_INDEX, isIndexed } from './indexes.ts';
import { FINALIZER_JOB_TRACKING } from './tally.ts';

const VARIABLE = 'JOB_COMPLETION_INDEX';

/** A Pod of the Job; with a number where the Job has numbers. */
export function jobPod(job: Job, { name, index }: { name: string; index?: number }): Pod {
  const pod = podFrom({ owner: job, template: job.spec.template, name });
  const finalizers = [...(pod.metadata.finalizers ?? []), FINALIZER_JOB_TRACKING];
  const metadata = { ...pod.metadata, finalizers };
  if (!isIndexed(job) || index === undefined) return { ...pod, metadata };
  const field = `metadata.annotations['${ANNOTATION_COMPLETION_INDEX}']`;
  const withIndex = (container: Container): Container =>
    container.env?.some((each) => each.name === VARIABLE)
      ? container
      : { ...container, env: [...(container.env ?? []), { name: VARIABLE, valueFrom: { fieldRef: { fieldPath: field } } }] };
  const { initContainers, containers } = pod.spec;
  return {
    ...pod,
    metadata: {
      ...metadata,
      annotations: { ...metadata.annotations, [ANNOTATION_COMPLETION_INDEX]: `${index}` },
      labels: { ...metadata.labels, [ANNOTATION_COMPLETION_INDEX]: `${index}` },
    },
    spec: {
      ...pod.spec,
      hostname: pod.spec.hostname ?? `${job.metadata.name}-${index}`,
      containers: containers.map(withIndex),
      ...(initContainers && { initContainers: initContainers.map(withIndex) }),
    },
  };
}
