import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readToken, signToken, tokenKeyFrom } from './token.ts';

const key = tokenKeyFrom('the key of this installation');
const target = { namespace: 'team', name: 'disk', uid: 'uid-1' };
const NOW = 1_000_000;
const MINUTE = 60_000;

test('a token says what it is good for, for five minutes', () => {
  const token = signToken(key, target, NOW);
  assert.deepEqual(readToken(key, token, NOW + 4 * MINUTE), target);
  assert.throws(() => readToken(key, token, NOW + 6 * MINUTE), { reason: 'Unauthorized', message: /expired/ });
});

test('a token of another installation, a changed one and none at all open nothing', () => {
  const token = signToken(key, target, NOW);
  const [claims = '', signature = ''] = token.split('.');
  const changed = Buffer.from(Buffer.from(claims, 'base64url').toString().replace('disk', 'mine')).toString('base64url');
  const wrong = [
    signToken(tokenKeyFrom('another key'), target, NOW),
    `${changed}.${signature}`,
    `${claims}.`,
    claims,
    `${token}.x`,
    `${token}A`,
    '',
    '.',
    'x'.repeat(100_000),
  ];
  for (const each of wrong) assert.throws(() => readToken(key, each, NOW), { reason: 'Unauthorized', message: /not one of ours/ });
});
