import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from '../test-server.testing.ts';
import type { Identity } from '../transport/identity.ts';
import { grant } from './rights.testing.ts';

test('somebody with the right acts as somebody else, with that one’s rights', async (t) => {
  const { client, fetch, close } = await startTestServer();
  t.after(close);
  const impersonate = { verbs: ['impersonate'], apiGroups: [''] };
  const rules = [
    { ...impersonate, resources: ['users'], resourceNames: ['ann'] },
    { ...impersonate, resources: ['groups'], resourceNames: ['devs'] },
    { ...impersonate, apiGroups: ['authentication.k8s.io'], resources: ['userextras/scopes'], resourceNames: ['dev'] },
  ];
  await grant(client, { rules, subject: { kind: 'User', name: 'bob' } });
  await grant(client, {
    namespace: 'default',
    rules: [{ ...impersonate, resources: ['serviceaccounts'] }],
    subject: { kind: 'User', name: 'bob' },
  });
  const bob: Identity = { user: 'bob', groups: ['system:authenticated'] };
  const whoAmI = async (headers: Record<string, string> | [string, string][]) => {
    const answer = await fetch('/apis/authentication.k8s.io/v1/selfsubjectreviews', { method: 'POST', body: '{}', headers }, bob);
    const body = (await answer.json()) as { status: { userInfo: object }; message: string };
    return answer.ok ? body.status.userInfo : `${answer.status} ${body.message}`;
  };

  assert.deepEqual(await whoAmI({ 'Impersonate-User': 'ann' }), { username: 'ann', groups: ['system:authenticated'] });
  assert.deepEqual(await whoAmI({ 'Impersonate-User': 'ann', 'Impersonate-Group': 'devs', 'Impersonate-Extra-Scopes': 'dev' }), {
    username: 'ann',
    groups: ['devs', 'system:authenticated'],
    extra: { scopes: ['dev'] },
  });
  assert.deepEqual(await whoAmI({ 'Impersonate-User': 'system:serviceaccount:default:bot' }), {
    username: 'system:serviceaccount:default:bot',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
  });
  assert.equal(
    await whoAmI({ 'Impersonate-User': 'root' }),
    '403 users "root" is forbidden: User "bob" cannot impersonate resource "users" in API group "" at the cluster scope',
  );
  const refused: [string, string][][] = [
    [['Impersonate-User', 'system:serviceaccount:kube-system:bot']],
    [
      ['Impersonate-User', 'ann'],
      ['Impersonate-Group', 'devs'],
      ['Impersonate-Group', 'system:masters'],
    ],
    [
      ['Impersonate-User', 'ann'],
      ['Impersonate-Uid', '1'],
    ],
    [
      ['Impersonate-User', 'ann'],
      ['Impersonate-Extra-Scopes', 'prod'],
    ],
  ];
  for (const headers of refused) assert.match(String(await whoAmI(headers)), /^403 /, JSON.stringify(headers));
  assert.match(String(await whoAmI({ 'Impersonate-Group': 'devs' })), /^400 .*without impersonating a user/);
  assert.match(String(await whoAmI({ 'Impersonate-User': 'ann', 'Impersonate-Wish': 'x' })), /^400 /);
});

test('nobody gets past what they are by impersonating without the right', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  const eve: Identity = { user: 'eve', groups: ['system:authenticated'] };
  const claims: Record<string, string>[] = [
    { 'Impersonate-User': 'kubernetes-admin', 'Impersonate-Group': 'system:masters' },
    { 'X-Remote-User': 'kubernetes-admin', 'X-Remote-Group': 'system:masters' },
  ];
  for (const headers of claims) assert.equal((await fetch('/api/v1/secrets', { headers }, eve)).status, 403);
});
