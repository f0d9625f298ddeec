import type { BadMoments } from '../../../bad-moments.testing.ts';

export const badMoments: BadMoments = { needs: 'nothing', args: ['localhost/guests/tiny'], expected: /^2 error\[IMAGE_NOT_PULLED\]/ };
