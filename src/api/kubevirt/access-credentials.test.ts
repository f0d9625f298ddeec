import assert from 'node:assert/strict';
import { test } from 'node:test';
import { credentialSourcesOf } from './access-credentials.ts';

test('each credential has its Secret and its way', () => {
  const source = (secretName: string) => ({ secret: { secretName } });
  const found = credentialSourcesOf({
    accessCredentials: [
      { sshPublicKey: { source: source('a'), propagationMethod: { noCloud: {} } } },
      { sshPublicKey: { source: source('d'), propagationMethod: { configDrive: {} } } },
      { sshPublicKey: { source: source('b'), propagationMethod: { qemuGuestAgent: { users: ['root'] } } } },
      { userPassword: { source: source('c'), propagationMethod: { qemuGuestAgent: {} } } },
      { sshPublicKey: { source: {}, propagationMethod: {} } },
    ],
  });
  assert.deepEqual(found, [
    { secretName: 'a', way: 'cloud-init', layout: 'noCloud' },
    { secretName: 'd', way: 'cloud-init', layout: 'configDrive' },
    { secretName: 'b', way: 'agent-keys', users: ['root'] },
    { secretName: 'c', way: 'agent-passwords' },
  ]);
});
