import { type BadMoments, NOT_FOUND } from '../../bad-moments.testing.ts';

export const badMoments: BadMoments = { needs: 'cluster', args: ['vm', 'nobody', '--name', 'x', '--port', '80'], missing: NOT_FOUND };
