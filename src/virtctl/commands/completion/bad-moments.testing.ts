import type { BadMoments } from '../../bad-moments.testing.ts';

export const badMoments: BadMoments = { needs: 'nothing', args: ['tcsh'], expected: /^2 .*bash\|zsh\|fish/ };
