import type { BadMoments } from '../../bad-moments.testing.ts';

export const badMoments: BadMoments = {
  needs: 'cluster',
  args: ['root@vm/nobody', '-c', 'true'],
  isOthers: true,
  missing: /^255 error\[NotFound\]: .*nobody/,
};
