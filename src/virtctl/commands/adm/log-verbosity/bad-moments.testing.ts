import type { BadMoments } from '../../../bad-moments.testing.ts';

export const badMoments: BadMoments = { needs: 'cluster', args: [] };
