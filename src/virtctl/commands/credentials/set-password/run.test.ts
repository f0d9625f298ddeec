import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vm } from '../../../../testing/builders.ts';
import { testDeps } from '../../../deps.testing.ts';
import { run } from './run.ts';

const VM = 'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachines/db';
const SECRET = '/api/v1/namespaces/default/secrets/passwords';
const FLAGS = { user: 'root', secret: 'passwords', password: 'letmein', force: false };

/** One that takes passwords of root from this Secret. */
function machine() {
  const { spec, ...rest } = vm('Always');
  const userPassword = { source: { secret: { secretName: 'passwords' } }, propagationMethod: { qemuGuestAgent: {} } };
  return { ...rest, spec: { ...spec, template: { spec: { ...spec.template.spec, accessCredentials: [{ userPassword }] } } } };
}

test('the password of one user is set in the Secret', async () => {
  const metadata = { name: 'passwords', namespace: 'default', ownerReferences: [{ uid: 'vm-1' }] };
  const { deps, requests, stdout } = testDeps({ [VM]: machine(), [`GET ${SECRET}`]: { metadata }, [`PATCH ${SECRET}`]: {} });
  await run(deps, FLAGS, 'db');
  assert.deepEqual(requests.at(-1), [`PATCH ${SECRET}`, { data: { root: Buffer.from('letmein').toString('base64') } }]);
  assert.equal(stdout(), 'the password of root was set in Secret passwords\n');
});

test('not in one that others may use, nor in one that is not there', async () => {
  const foreign = testDeps({ [VM]: machine(), [`GET ${SECRET}`]: { metadata: { name: 'passwords' } } });
  await assert.rejects(run(foreign.deps, FLAGS, 'db'), { code: 'NOT_OWNED' });
  await assert.rejects(run(testDeps({ [VM]: machine() }).deps, FLAGS, 'db'), { reason: 'NotFound', message: /no Secret "passwords"/ });
});
