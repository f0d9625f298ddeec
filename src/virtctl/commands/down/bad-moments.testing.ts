import type { BadMoments } from '../../bad-moments.testing.ts';

export const badMoments: BadMoments = { needs: 'nothing', args: [], expected: /^0 nothing to stop/ };
