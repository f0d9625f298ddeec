import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { ensureSigningKey } from '../../base/node/signing-key.ts';
import { temporaryPki } from '../../control-plane/apiserver/transport/tls.testing.ts';
import { temporaryStore } from '../../control-plane/store/temporary-store.testing.ts';
import { PLACES } from '../places.ts';
import { applyManifests } from './apply-manifests.ts';
import { INSTALLER, startApi } from './start-api.ts';

test('a second start finds its roles and definitions as the first one left them, and writes none of them', {
  timeout: 60_000,
}, async (t) => {
  const { pki, folder, remove } = await temporaryPki();
  const { store, close } = temporaryStore();
  t.after(close);
  t.after(remove);
  const signingKey = await ensureSigningKey(folder);
  const start = async () => {
    const api = await startApi({ store, pki, signingKey, clock: systemClock, log: silentLogger });
    await applyManifests(api.clientAs(INSTALLER, ['system:masters']), PLACES.embeddedManifests, (object) => object);
    api.close();
    const ours = store.list('').filter(({ key }) => /^(rbac\.authorization|apiextensions)\.k8s\.io\//.test(key));
    return ours.map(({ key, revision }) => `${key} ${revision}`);
  };
  const first = await start();
  assert.deepEqual(await start(), first);
});
