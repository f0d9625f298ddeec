import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { CONFIG_MAPS } from '../../api/core/configmap.ts';
import { NAMESPACES } from '../../api/core/namespace.ts';
import { CLUSTER_ROLES, type ClusterRole } from '../../api/core/rbac.ts';
import { SERVICE_ACCOUNTS } from '../../api/core/service-account.ts';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { until } from '../../testing/until.ts';
import { startTestServer } from '../apiserver/test-server.testing.ts';
import { runDefaultServiceAccounts, runRoleAggregation, runRootCaPublisher } from './run.ts';

/** Each with its own service account and nothing but the default roles. */
async function start(t: TestContext) {
  const { client, clientAs, close } = await startTestServer();
  const stop = new AbortController();
  const as = (name: string) => ({
    client: clientAs(`system:serviceaccount:kube-system:${name}`),
    clock: systemClock,
    log: silentLogger,
    signal: stop.signal,
  });
  const running = Promise.all([
    runDefaultServiceAccounts(as('service-account-controller')),
    runRootCaPublisher({ ...as('root-ca-cert-publisher'), ca: 'OUR CA' }),
    runRoleAggregation(as('clusterrole-aggregation-controller')),
  ]);
  t.after(async () => {
    stop.abort();
    await running;
    close();
  });
  return client;
}

test('every namespace gets its default service account and the root authority, again when they are removed or changed', async (t) => {
  const client = await start(t);
  await client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
  const account = { namespace: 'team', name: 'default' };
  const rootCa = { namespace: 'team', name: 'kube-root-ca.crt' };
  const isComplete = async () =>
    (await client.get(SERVICE_ACCOUNTS, account)) !== undefined && (await client.get(CONFIG_MAPS, rootCa))?.data?.['ca.crt'] === 'OUR CA';
  await until(isComplete, 'what every namespace has');
  await client.delete(SERVICE_ACCOUNTS, account);
  await client.patch(CONFIG_MAPS, rootCa, { data: { 'ca.crt': 'ANOTHER' } });
  await until(isComplete, 'what every namespace has, again');
  await client.delete(NAMESPACES, { name: 'team' });
  await until(async () => (await client.get(NAMESPACES, { name: 'team' })) === undefined, 'the namespace to go');
});

test('a labelled role is part of view, of edit and of admin, and its rules go with it', async (t) => {
  const client = await start(t);
  const rules = [{ apiGroups: ['demo.io'], resources: ['demos'], verbs: ['get'] }];
  const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
  const role: ClusterRole = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'demo', labels }, rules };
  const holders = async () => {
    const { items } = await client.list(CLUSTER_ROLES);
    return items
      .filter((each) => (each.rules ?? []).some((rule) => JSON.stringify(rule).includes('demo.io')))
      .map(({ metadata }) => metadata.name);
  };
  await client.create(CLUSTER_ROLES, role);
  await until(async () => (await holders()).length === 4, 'the rule to spread');
  assert.deepEqual(await holders(), ['admin', 'demo', 'edit', 'view']);
  const before = (await client.get(CLUSTER_ROLES, { name: 'view' }))?.rules;
  await client.patch(CLUSTER_ROLES, { name: 'view' }, { rules: [] });
  await until(async () => (await client.get(CLUSTER_ROLES, { name: 'view' }))?.rules?.length === before?.length, 'the edit to be undone');
  await client.delete(CLUSTER_ROLES, { name: 'demo' });
  await until(async () => (await holders()).length === 0, 'the rule to go');
});
