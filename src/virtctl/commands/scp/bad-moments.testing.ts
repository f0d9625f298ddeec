import type { BadMoments } from '../../bad-moments.testing.ts';

export const badMoments: BadMoments = {
  needs: 'cluster',
  args: ['/etc/hostname', 'root@vm/nobody:/tmp'],
  isOthers: true,
  missing: /^255 error\[NotFound\]: .*nobody/,
};
