import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loginsInSecrets } from './pull-secrets.ts';

const secret = (auths: object) => ({
  metadata: { name: 's' },
  type: 'kubernetes.io/dockerconfigjson',
  data: { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') },
});
const words = (auths: object, address: string, repository = 'team/x') =>
  loginsInSecrets([secret(auths)], address, repository).map((each) =>
    each.kind === 'password' ? Buffer.from(each.authorization.slice(6), 'base64').toString() : each.kind,
  );
const user = (username: string) => ({ username, password: 'p' });

test('the entry for the host is taken, with the longest path first', () => {
  const auths = { 'quay.io': user('all'), 'quay.io/team': user('team'), 'quay.io/other': user('other'), 'docker.io': user('hub') };
  assert.deepEqual(words(auths, 'https://quay.io'), ['team:p', 'all:p']);
});

test('docker.io has many names, and a star stands for one part of a name', () => {
  assert.deepEqual(words({ 'https://index.docker.io/v1/': user('hub') }, 'https://registry-1.docker.io'), ['hub:p']);
  assert.deepEqual(words({ '*.example.com': user('star') }, 'https://a.example.com'), ['star:p']);
  assert.deepEqual(words({ '*.example.com': user('star') }, 'https://a.b.example.com'), []);
});

test('what cannot be read is no login', () => {
  assert.deepEqual(words({ 'quay.io': { auth: 'bm90aGluZw==' }, 'quay.io/team': 7 }, 'https://quay.io'), []);
  assert.deepEqual(loginsInSecrets([{ metadata: { name: 's' }, data: { '.dockerconfigjson': '!!!' } }], 'https://quay.io', 'x'), []);
});
