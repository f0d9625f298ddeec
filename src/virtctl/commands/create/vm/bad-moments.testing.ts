import type { BadMoments } from '../../../bad-moments.testing.ts';

export const badMoments: BadMoments = {
  needs: 'nothing',
  args: ['--user', 'me', '--password-file', '/nowhere'],
  expected: /^3 error\[FILE_MISSING\]: cannot read \/nowhere/,
};
