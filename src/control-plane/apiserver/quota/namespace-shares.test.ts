import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CONFIG_MAPS } from '../../../api/core/configmap.ts';
import { EVENTS } from '../../../api/core/event.ts';
import { NAMESPACES } from '../../../api/core/namespace.ts';
import { isApiError } from '../../../base/errors.ts';
import { bindRole, outcome } from '../access/rights.testing.ts';
import { startTestServer, type TestServer } from '../test-server.testing.ts';
import { NamespaceShares } from './namespace-shares.ts';

const SHARES = { ofOne: 100_000, ofAll: 150_000 };
const COMPONENT = 'system:serviceaccount:kube-system:deployment-controller';

/** Two namespaces, with a tenant and a component that may do everything in them. */
async function start(t: { after(end: () => void): void }, shares = SHARES): Promise<TestServer> {
  const api = await startTestServer({ shares });
  t.after(() => api.close());
  for (const name of ['a', 'b']) await api.client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  for (const name of ['tenant', COMPONENT])
    await bindRole(api.client, { name: 'cluster-admin', as: name.replaceAll(':', '-'), subject: { kind: 'User', name } });
  return api;
}

const map = (namespace: string, name: string, bytes: number, letter = 'x') =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data: { x: letter.repeat(bytes) } }) as const;
const event = {
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { namespace: 'a', name: 'e' },
  involvedObject: { kind: 'Pod', namespace: 'a', name: 'p' },
  reason: 'Full',
  message: '',
  type: 'Warning',
  source: { component: 'test' },
  firstTimestamp: '2026-01-01T00:00:00Z',
  lastTimestamp: '2026-01-01T00:00:00Z',
  count: 1,
} as const;

describe('the memory of the cluster', () => {
  test('is shared between namespaces: one that is full leaves room for others', async (t) => {
    const tenant = (await start(t)).clientAs('tenant');
    await tenant.create(CONFIG_MAPS, map('a', 'first', 90_000));
    const refused = await outcome(tenant.create(CONFIG_MAPS, map('a', 'second', 9_000)));
    assert.match(
      refused,
      /configmaps "second" is forbidden: the objects of namespace "a" would take more than .*; delete what is no longer needed/,
    );
    await tenant.create(CONFIG_MAPS, map('b', 'first', 30_000));
    assert.match(
      await outcome(tenant.create(CONFIG_MAPS, map('b', 'second', 30_000))),
      /the objects of all namespaces would take more than/,
    );
  });

  test('is counted by what is there: bytes, not letters, and many small objects as well', async (t) => {
    const tenant = (await start(t)).clientAs('tenant');
    assert.match(await outcome(tenant.create(CONFIG_MAPS, map('a', 'wide', 40_000, '漢'))), /would take more than/);
    let count = 0;
    while ((await outcome(tenant.create(CONFIG_MAPS, map('a', `m${count}`, 1)))) === 'ok' && count < 100) count += 1;
    assert.ok(count > 20 && count < 60, `${count} objects`);
  });

  test('is not taken by growing, by any way, nor by all who write at once', async (t) => {
    const tenant = (await start(t)).clientAs('tenant');
    const { metadata } = await tenant.create(CONFIG_MAPS, map('a', 'it', 50_000));
    const more = { data: { y: 'y'.repeat(60_000) } };
    for (const type of ['merge', 'strategic', 'apply'] as const)
      await assert.rejects(
        tenant.patch(CONFIG_MAPS, metadata, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'it' }, ...more }, { type }),
        (error) => isApiError(error, 'Forbidden'),
        type,
      );
    await assert.rejects(tenant.update(CONFIG_MAPS, map('a', 'it', 110_000)), (error) => isApiError(error, 'Forbidden'));
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, at) => outcome(tenant.create(CONFIG_MAPS, map('a', `at-once-${at}`, 20_000)))),
    );
    assert.equal(all.filter((each) => each === 'ok').length, 2);
  });

  test('is free again when something is deleted or shrinks, which nobody is kept from', async (t) => {
    const tenant = (await start(t)).clientAs('tenant');
    await tenant.create(CONFIG_MAPS, map('a', 'one', 40_000));
    const two = await tenant.create(CONFIG_MAPS, map('a', 'two', 50_000));
    await tenant.update(CONFIG_MAPS, map('a', 'two', 10_000));
    await tenant.create(CONFIG_MAPS, map('a', 'three', 30_000));
    await tenant.delete(CONFIG_MAPS, two.metadata);
    await tenant.create(CONFIG_MAPS, map('a', 'four', 10_000));
  });

  test('is not filled by what is made in the name of a tenant, and what is there goes on', async (t) => {
    const api = await start(t);
    const component = api.clientAs(COMPONENT);
    await api.clientAs('tenant').create(CONFIG_MAPS, map('a', 'it', 95_000));
    assert.match(await outcome(component.create(CONFIG_MAPS, map('a', 'more', 9_000))), /would take more than/);
    await component.update(CONFIG_MAPS, map('a', 'it', 110_000));
    await component.create(EVENTS, event);
    await api.client.create(CONFIG_MAPS, map('a', 'of-an-administrator', 200_000));
    await component.create(CONFIG_MAPS, map('kube-system', 'own', 1_000));
  });

  test('is counted anew by the next server on the same store', async (t) => {
    const api = await start(t);
    await api.client.create(CONFIG_MAPS, map('a', 'it', 99_000));
    const shares = new NamespaceShares(api.store, SHARES);
    t.after(() => shares.close());
    const type = { kind: 'ConfigMap', plural: 'configmaps', group: '' } as never; // what is read of it
    const write = { operation: 'CREATE', type, namespace: 'a', name: 'x', object: map('a', 'x', 9_000), isDryRun: false } as const;
    const tenant = { user: 'tenant', groups: [] };
    assert.throws(() => shares.reserve({ ...write, oldObject: undefined, identity: tenant }), { reason: 'Forbidden' });
  });
});
