/** What is left of a machine that cannot be made with its disk, on the real API server. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PERSISTENT_VOLUME_CLAIMS } from '../../src/api/core/volume.ts';
import { type VirtualMachine, VMS } from '../../src/api/kubevirt/kinds/virtual-machine.ts';
import { ApiError } from '../../src/base/errors.ts';
import type { Client } from '../../src/client/client.ts';
import { applyManifests } from '../../src/cmd/embedded/apply-manifests.ts';
import { startTestServer } from '../../src/control-plane/apiserver/test-server.testing.ts';
import { makeMachine } from '../../src/sdk/make-machine.ts';
import { buildClaim } from '../../src/sdk/manifest/claim.ts';
import { buildVm } from '../../src/sdk/manifest/vm.ts';

const claim = buildClaim({ name: 'web-root', image: 'localhost/guests/tiny', size: '1Gi' });
const vm = (changes: Partial<VirtualMachine['spec']> = {}): VirtualMachine => {
  const made = buildVm({
    name: 'web',
    namespace: 'default',
    runStrategy: 'Halted',
    memory: '128Mi',
    gracePeriodSeconds: 0,
    images: [],
    claims: [{ source: 'web-root', name: 'root' }],
  });
  return { ...made, spec: { ...made.spec, ...changes } };
};

async function start(t: TestContext) {
  const { client, close } = await startTestServer();
  t.after(close);
  await applyManifests(client, join(import.meta.dirname, '../../deploy/crds'), (object) => object);
  const claims = async () =>
    (await client.list(PERSISTENT_VOLUME_CLAIMS, { namespace: 'default' })).items.map(({ metadata }) => metadata.name);
  /** Another client, for which some calls end otherwise. */
  const as = (changes: Partial<Client>): { readonly client: Client; readonly namespace: string } => ({
    client: { ...client, ...changes },
    namespace: 'default',
  });
  return { client, claims, as };
}

test('a machine that is refused leaves no claim, not even for a moment', async (t) => {
  const { claims, as, client } = await start(t);
  let made = 0;
  const create: Client['create'] = (...args) => {
    made += 1;
    return client.create(...args);
  };
  const wrong = vm({ runStrategy: 'Sometimes' as never }); // the schema refuses it
  await assert.rejects(makeMachine({ vm: wrong, claim }, as({ create })), { reason: 'Invalid' });
  assert.deepEqual([await claims(), made], [[], 0]);
});

test('a claim that is refused is said before anything is made', async (t) => {
  const { client, as } = await start(t);
  const wrong = { ...claim, metadata: { ...claim.metadata, name: 'Web_Root' } };
  await assert.rejects(makeMachine({ vm: vm(), claim: wrong }, as({})), /Web_Root/);
  assert.equal(await client.get(VMS, { namespace: 'default', name: 'web' }), undefined);
});

test('a machine whose answer was lost is found, and keeps its disk', async (t) => {
  const { client, claims, as } = await start(t);
  const create: Client['create'] = async (resource, object, options) => {
    const made = await client.create(resource, object, options);
    if (resource.plural === VMS.plural) throw new TypeError('fetch failed');
    return made;
  };
  const made = await makeMachine({ vm: vm(), claim }, as({ create }));
  assert.deepEqual([made.metadata.name, await claims()], ['web', ['web-root']]);
  const owned = await client.get(PERSISTENT_VOLUME_CLAIMS, { namespace: 'default', name: 'web-root' });
  assert.equal(owned?.metadata.ownerReferences?.[0]?.uid, made.metadata.uid);
});

test('when nobody says whether the machine was made its disk stays, and that is said', async (t) => {
  const { claims, as, client } = await start(t);
  let isAway = false;
  const create: Client['create'] = async (resource, object, options) => {
    if (resource.plural !== VMS.plural) return client.create(resource, object, options);
    isAway = true;
    throw new TypeError('fetch failed');
  };
  const get: Client['get'] = (...args) => (isAway ? Promise.reject(new TypeError('fetch failed')) : client.get(...args));
  await assert.rejects(makeMachine({ vm: vm(), claim }, as({ create, get })), /not known whether the machine was made.*web-root/);
  assert.deepEqual(await claims(), ['web-root']);
});

test('a disk that cannot be deleted again does not hide why the machine was refused', async (t) => {
  const { as, client } = await start(t);
  const create: Client['create'] = (resource, object, options) =>
    resource.plural === VMS.plural
      ? Promise.reject(new ApiError('Forbidden', 'the quota is used up'))
      : client.create(resource, object, options);
  const remove: Client['delete'] = () => Promise.reject(new ApiError('Forbidden', 'you may not delete it'));
  await assert.rejects(makeMachine({ vm: vm(), claim }, as({ create, delete: remove })), {
    reason: 'Forbidden',
    message: 'the quota is used up. These PVCs could not be deleted again: web-root (you may not delete it)',
  });
});
