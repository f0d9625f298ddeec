import type { BadMoments } from '../../../bad-moments.testing.ts';

export const badMoments: BadMoments = {
  needs: 'nothing',
  args: ['--source-name', 'x', '--source-type', 'pod'],
  expected: /^2 error\[USAGE\]: --source-type pod is not known/,
};
