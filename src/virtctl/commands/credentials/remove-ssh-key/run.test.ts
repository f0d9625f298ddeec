import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vm } from '../../../../testing/builders.ts';
import { testDeps } from '../../../deps.testing.ts';
import { run } from './run.ts';

const VM = '/apis/kubevirt.io/v1/namespaces/default/virtualmachines/db';
const SECRETS = '/api/v1/namespaces/default/secrets';
const base64 = (text: string) => Buffer.from(text).toString('base64');
const KEY = `ssh-ed25519 ${base64('the key of a test')} me`;
const FLAGS = { user: 'root', secret: 'keys', value: KEY, force: true };

/** One that takes keys of root from this Secret. */
function machine() {
  const { spec, ...rest } = vm('Always');
  const sshPublicKey = { source: { secret: { secretName: 'keys' } }, propagationMethod: { qemuGuestAgent: { users: ['root'] } } };
  return { ...rest, spec: { ...spec, template: { spec: { ...spec.template.spec, accessCredentials: [{ sshPublicKey }] } } } };
}

test('the key is taken out of the Secret, and the others stay', async () => {
  const patch = `PATCH ${SECRETS}/keys`;
  const other = `ssh-ed25519 ${base64('another key')} you`;
  const secret = { metadata: { name: 'keys', namespace: 'default', resourceVersion: '7' }, data: { a: base64(`${KEY}\n${other}\n`) } };
  const { deps, requests, stdout } = testDeps({ [`GET ${VM}`]: machine(), [`GET ${SECRETS}/keys`]: secret, [patch]: {} });
  await run(deps, FLAGS, 'db');
  const sent = requests.find(([request]) => request === patch)?.[1] as { metadata: object; data: { a: string } } | undefined;
  assert.deepEqual(sent?.metadata, { resourceVersion: '7' });
  assert.equal(
    Buffer.from(sent?.data.a ?? '', 'base64')
      .toString()
      .trim(),
    other,
  );
  assert.equal(stdout(), 'the key was removed from Secret keys\n');
});

test('a key that is in none of them is not found', async () => {
  const { deps } = testDeps({ [`GET ${VM}`]: machine(), [`GET ${SECRETS}/keys`]: { metadata: { name: 'keys' }, data: {} } });
  await assert.rejects(run(deps, FLAGS, 'db'), { reason: 'NotFound', message: /none of the Secrets keys/ });
});
