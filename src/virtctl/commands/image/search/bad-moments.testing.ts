import type { BadMoments } from '../../../bad-moments.testing.ts';

export const badMoments: BadMoments = { needs: 'nothing', args: ['nobody'], expected: /^3 error\[NAME_MISSING\]/ };
