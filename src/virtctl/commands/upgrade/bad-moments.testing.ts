import type { BadMoments } from '../../bad-moments.testing.ts';

export const badMoments: BadMoments = { needs: 'nothing', args: [], expected: /^3 error\[NO_CLUSTER\]/ };
