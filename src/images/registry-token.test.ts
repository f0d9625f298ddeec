import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fetchToken, parseChallenge } from './registry-token.ts';

const CASES: [header: string | null, expected: object | undefined][] = [
  [null, undefined],
  ['Negotiate', undefined],
  ['Basic realm="a, b"', { scheme: 'basic' }],
  ['Bearer realm="https://a/t",service="s",scope="repository:x:pull"', { scheme: 'bearer', realm: 'https://a/t', service: 's' }],
  ['bearer service=s, realm="https://a/\\"t\\""', { scheme: 'bearer', realm: 'https://a/"t"', service: 's' }],
  ['Basic realm="x", Bearer realm="https://a/t"', { scheme: 'bearer', realm: 'https://a/t', service: undefined }],
  ['Bearer realm="https://a/t", Basic realm="x"', { scheme: 'bearer', realm: 'https://a/t', service: undefined }],
  ['Bearer', undefined],
];
for (const [header, expected] of CASES)
  test(`${header} asks for ${JSON.stringify(expected)}`, () => assert.deepEqual(parseChallenge(header), expected));

test('a registry with https cannot have the password sent by http', async () => {
  const challenge = { realm: 'http://127.0.0.1:1/token', service: undefined };
  const asked = fetchToken({
    challenge,
    address: 'https://registry.example.com',
    repository: 'x',
    login: undefined,
    signal: undefined,
    doing: 'push',
  });
  await assert.rejects(asked, { code: 'REGISTRY_FORBIDS', why: 'its tokens are given out by http://127.0.0.1:1, which is not https' });
});
