import { type BadMoments, named } from '../../../bad-moments.testing.ts';

export const badMoments: BadMoments = named('--user', 'root', '--value', 'ssh-ed25519 AAAA');
