import assert from 'node:assert/strict';
import { test } from 'node:test';
import { credentialMountPath, credentialSourcesOf, credentialVolumeName } from './access-credentials.ts';

test('each credential has its Secret and its way', () => {
  const source = (secretName: string) => ({ secret: { secretName } });
  const found = credentialSourcesOf({
    accessCredentials: [
      { sshPublicKey: { source: source('a'), propagationMethod: { noCloud: {} } } },
      { sshPublicKey: { source: source('b'), propagationMethod: { qemuGuestAgent: { users: ['root'] } } } },
      { userPassword: { source: source('c'), propagationMethod: { qemuGuestAgent: {} } } },
      { sshPublicKey: { source: {}, propagationMethod: {} } },
    ],
  });
  assert.deepEqual(found, [
    { secretName: 'a', way: 'cloud-init' },
    { secretName: 'b', way: 'agent-keys', users: ['root'] },
    { secretName: 'c', way: 'agent-passwords' },
  ]);
});

test('any name of a Secret becomes the name of a volume', () => {
  const name = credentialVolumeName(`${'a.'.repeat(120)}b`);
  assert.match(name, /^access-cred-[0-9a-f]{12}$/);
  assert.ok(credentialMountPath('x').endsWith(credentialVolumeName('x')));
});
