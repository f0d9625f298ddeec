import type { BadMoments } from '../../../bad-moments.testing.ts';

export const badMoments: BadMoments = {
  needs: 'nothing',
  args: ['--cpu', '0', '--memory', '1Gi'],
  expected: /^2 error\[USAGE\]: --cpu 0 is not a number from 1/,
};
