/** The numbers of an Indexed Job: which are done, as text and as a set. Pure. */
import type { Job } from '../../../api/core/job.ts';
import type { Pod } from '../../../api/core/pod.ts';

export const ANNOTATION_COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index';

export function isIndexed({ spec }: Job): boolean {
  return spec.completionMode === 'Indexed';
}

/** Which number a Pod works on; undefined when it says none that the Job has. */
export function indexOf(pod: Pod, { spec }: Job): number | undefined {
  const text = pod.metadata.annotations?.[ANNOTATION_COMPLETION_INDEX] ?? '';
  const index = /^\d{1,9}$/.test(text) ? Number(text) : undefined;
  return index !== undefined && index < (spec.completions ?? 0) ? index : undefined;
}

/** `0-2,5` as numbers, none beyond the Job's. */
export function parseIndexes(text: string | undefined, completions: number): Set<number> {
  const indexes = new Set<number>();
  for (const part of (text ?? '').split(',').filter(Boolean)) {
    const [from = 0, to = from] = part.split('-').map(Number);
    for (let index = from; index <= Math.min(to, completions - 1); index += 1) indexes.add(index);
  }
  return indexes;
}

/** The reverse of parseIndexes. */
export function indexesText(indexes: ReadonlySet<number>): string {
  const ranges: [number, number][] = [];
  for (const index of [...indexes].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last && last[1] === index - 1) last[1] = index;
    else ranges.push([index, index]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
}
