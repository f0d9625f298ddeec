import type { BadMoments } from '../../bad-moments.testing.ts';

export const badMoments: BadMoments = { needs: 'nothing', args: [], expected: /^3 error\[NOT_SET_UP\]/ };
