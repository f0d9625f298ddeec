import type { BadMoments } from '../../bad-moments.testing.ts';

export const badMoments: BadMoments = {
  needs: 'cluster',
  args: ['/nonexistent/nobody.tar'],
  missing: /^3 error\[FILE_MISSING\]: .*nobody/,
};
