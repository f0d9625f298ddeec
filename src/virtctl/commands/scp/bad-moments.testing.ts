import { type BadMoments, NOT_FOUND } from '../../bad-moments.testing.ts';

export const badMoments: BadMoments = { needs: 'cluster', args: ['/etc/hostname', 'root@vm/nobody:/tmp'], missing: NOT_FOUND };
