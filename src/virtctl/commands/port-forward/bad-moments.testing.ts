import { type BadMoments, NOT_FOUND } from '../../bad-moments.testing.ts';

export const badMoments: BadMoments = { needs: 'cluster', args: ['--stdio', 'vm/nobody', '22'], missing: NOT_FOUND };
