/** What `decide` looks at: one Job and every Pod that may be its own. */
import type { Job } from '../../../api/core/job.ts';
import type { Family } from '../candidates.ts';

export type ObservedJob = Omit<Family, 'revisions'> & { readonly job: Job; readonly now: number };
