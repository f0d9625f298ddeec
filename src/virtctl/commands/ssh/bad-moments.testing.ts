import { type BadMoments, NOT_FOUND } from '../../bad-moments.testing.ts';

export const badMoments: BadMoments = { needs: 'cluster', args: ['root@vm/nobody', '-c', 'true'], missing: NOT_FOUND };
