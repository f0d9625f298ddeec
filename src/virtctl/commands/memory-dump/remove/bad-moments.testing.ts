import { type BadMoments, named } from '../../../bad-moments.testing.ts';

export const badMoments: BadMoments = named();
