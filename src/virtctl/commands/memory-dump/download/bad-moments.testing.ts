import { type BadMoments, NOT_FOUND } from '../../../bad-moments.testing.ts';

export const badMoments: BadMoments = { needs: 'cluster', args: ['nobody', '--output', 'nowhere'], missing: NOT_FOUND };
