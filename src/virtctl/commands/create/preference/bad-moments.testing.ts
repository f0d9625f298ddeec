import type { BadMoments } from '../../../bad-moments.testing.ts';

export const badMoments: BadMoments = {
  needs: 'nothing',
  args: ['--cpu-topology', 'rings'],
  expected: /^2 error\[USAGE\]: --cpu-topology rings is not known/,
};
