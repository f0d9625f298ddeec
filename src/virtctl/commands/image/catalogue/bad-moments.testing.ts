import type { BadMoments } from '../../../bad-moments.testing.ts';

export const badMoments: BadMoments = {
  needs: 'nothing',
  args: ['remove', 'https://nowhere.example'],
  expected: /^3 error\[CATALOGUE_MISSING\]/,
};
