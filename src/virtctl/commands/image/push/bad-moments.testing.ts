import type { BadMoments } from '../../../bad-moments.testing.ts';

export const badMoments: BadMoments = {
  needs: 'nothing',
  args: ['/nowhere', 'registry.example.com/other'],
  expected: /^3 error\[SOURCE_MISSING\]/,
};
