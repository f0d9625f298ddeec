import { named } from '../../bad-moments.testing.ts';

export const badMoments = named();
