import { type BadMoments, NOT_FOUND } from '../../bad-moments.testing.ts';

export const badMoments: BadMoments = { needs: 'cluster', args: ['nobody', '/nonexistent/machine.tar'], missing: NOT_FOUND };
