import type { BadMoments } from '../../bad-moments.testing.ts';

export const badMoments: BadMoments = { needs: 'nothing', args: ['--port', '99999999'], expected: /^2 error\[USAGE\]/ };
