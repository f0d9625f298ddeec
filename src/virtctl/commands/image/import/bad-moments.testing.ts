import type { BadMoments } from '../../../bad-moments.testing.ts';

export const badMoments: BadMoments = { needs: 'nothing', args: ['/nowhere', 'other'], expected: /^\d error\[/ };
