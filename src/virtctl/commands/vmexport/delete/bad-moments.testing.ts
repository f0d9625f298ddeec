import type { BadMoments } from '../../../bad-moments.testing.ts';

/** What is gone is as wanted. */
export const badMoments: BadMoments = { needs: 'cluster', args: ['nobody'] };
