import type { BadMoments } from '../../../bad-moments.testing.ts';

/** What it is of may come later: that nothing of the name is there is no mistake. */
export const badMoments: BadMoments = { needs: 'cluster', args: ['nobody', '--pvc', 'nobody'] };
