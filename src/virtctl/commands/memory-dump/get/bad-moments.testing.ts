import { type BadMoments, NOT_FOUND } from '../../../bad-moments.testing.ts';

export const badMoments: BadMoments = { needs: 'cluster', args: ['nobody', '--claim-name', 'nowhere'], missing: NOT_FOUND };
