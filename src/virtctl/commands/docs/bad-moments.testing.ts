import type { BadMoments } from '../../bad-moments.testing.ts';

export const badMoments: BadMoments = {
  needs: 'nothing',
  args: ['--port', '99999', '--no-open'],
  expected: /^2 error\[USAGE\]: invalid port 99999/,
};
