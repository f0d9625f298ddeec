import { type BadMoments, NOT_FOUND } from '../../bad-moments.testing.ts';

export const badMoments: BadMoments = {
  needs: 'cluster',
  args: ['dv', 'nobody', '--no-create', '--image-path', import.meta.filename],
  missing: NOT_FOUND,
};
