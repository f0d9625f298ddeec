import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vm } from '../../../../testing/builders.ts';
import { testDeps } from '../../../deps.testing.ts';
import { run } from './run.ts';

const VM = '/apis/kubevirt.io/v1/namespaces/default/virtualmachines/db';
const SECRETS = '/api/v1/namespaces/default/secrets';
const base64 = (text: string) => Buffer.from(text).toString('base64');
const KEY = `ssh-ed25519 ${base64('the key of a test')} me`;
const FLAGS = { user: 'root', value: KEY, force: false, createSecret: false, updateSecret: false };

function machine(secretName?: string) {
  const { spec, ...rest } = vm('Halted');
  const sshPublicKey = { source: { secret: { secretName } }, propagationMethod: { qemuGuestAgent: { users: ['root'] } } };
  const accessCredentials = secretName ? [{ sshPublicKey }] : [];
  return { ...rest, spec: { ...spec, template: { spec: { ...spec.template.spec, accessCredentials } } } };
}
const owned = { name: 'keys', namespace: 'default', ownerReferences: [{ apiVersion: 'v1', kind: 'x', name: 'db', uid: 'vm-1' }] };

test('the key goes into the Secret that the machine names', async () => {
  const patch = `PATCH ${SECRETS}/keys`;
  const { deps, requests, stdout } = testDeps({
    [`GET ${VM}`]: machine('keys'),
    [`GET ${SECRETS}/keys`]: { metadata: owned, data: {} },
    [patch]: {},
  });
  await run(deps, FLAGS, 'db');
  const sent = requests.find(([request]) => request === patch)?.[1] as { data: Record<string, string> } | undefined;
  assert.deepEqual(
    Object.values(sent?.data ?? {}).map((each) => Buffer.from(each, 'base64').toString().trim()),
    [KEY],
  );
  assert.equal(stdout(), 'the key was added to Secret keys\n');
});

test('a Secret that others may use is not changed without --force', async () => {
  const { deps, requests } = testDeps({ [`GET ${VM}`]: machine('keys'), [`GET ${SECRETS}/keys`]: { metadata: { name: 'keys' } } });
  await assert.rejects(run(deps, FLAGS, 'db'), { code: 'NOT_OWNED', exitCode: 4 });
  assert.ok(!requests.some(([request]) => request.startsWith('PATCH')));
});

test('--create-secret makes one that belongs to the machine, and tells the machine', async () => {
  const { deps, requests, stdout } = testDeps({ [`GET ${VM}`]: machine(), [`POST ${SECRETS}`]: {}, [`PATCH ${VM}`]: {} });
  await run(deps, { ...FLAGS, createSecret: true, secret: 'new' }, 'db');
  const [, secret] = requests.find(([request]) => request === `POST ${SECRETS}`) ?? [];
  assert.equal((secret as { metadata: { ownerReferences: { uid: string }[] } }).metadata.ownerReferences[0]?.uid, 'vm-1');
  assert.equal(stdout(), 'the key was added to the new Secret new; the machine takes it at its next start\n');
});

test('flags that contradict each other, and a machine that is not there', async () => {
  const { deps } = testDeps();
  await assert.rejects(run(deps, { ...FLAGS, createSecret: true, updateSecret: true }, 'db'), { code: 'USAGE' });
  await assert.rejects(run(deps, { ...FLAGS, updateSecret: true }, 'db'), { code: 'USAGE' });
  await assert.rejects(run(deps, { ...FLAGS, file: 'x' }, 'db'), { code: 'USAGE' });
  await assert.rejects(run(deps, FLAGS, 'db'), { reason: 'NotFound' });
});
