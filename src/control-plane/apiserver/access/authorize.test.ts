import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONFIG_MAPS } from '../../../api/core/configmap.ts';
import { NAMESPACES } from '../../../api/core/namespace.ts';
import { startTestServer } from '../test-server.testing.ts';
import { CLUSTER_ROLES, grant, outcome } from './rights.testing.ts';

const GROUP = 'rbac.authorization.k8s.io';

test('somebody without a role is told what is missing', async (t) => {
  const { clientAs, close } = await startTestServer();
  t.after(close);
  const eve = clientAs('eve');
  assert.equal(
    await outcome(eve.get(CONFIG_MAPS, { namespace: 'default', name: 'a' })),
    'configmaps "a" is forbidden: User "eve" cannot get resource "configmaps" in API group "" in the namespace "default"',
  );
  assert.equal(
    await outcome(eve.list(CLUSTER_ROLES)),
    'clusterroles.rbac.authorization.k8s.io is forbidden: User "eve" cannot list resource "clusterroles" in API group "rbac.authorization.k8s.io" at the cluster scope',
  );
  assert.equal(await outcome(eve.request('/metrics')), 'forbidden: User "eve" cannot get path "/metrics"');
});

test('a role counts in its namespace, for its subject, for its verbs and names, at once', async (t) => {
  const { client, clientAs, close } = await startTestServer();
  t.after(close);
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'], resourceNames: ['a'] }];
  await grant(client, { namespace: 'default', rules, subject: { kind: 'User', name: 'ann', apiGroup: GROUP } });
  const ann = clientAs('ann');
  assert.equal(await ann.get(CONFIG_MAPS, { namespace: 'default', name: 'a' }), undefined);
  assert.match(await outcome(ann.get(CONFIG_MAPS, { namespace: 'default', name: 'b' })), /forbidden/);
  assert.match(await outcome(ann.get(CONFIG_MAPS, { namespace: 'kube-public', name: 'a' })), /forbidden/);
  assert.match(await outcome(ann.list(CONFIG_MAPS, { namespace: 'default' })), /forbidden/);
  assert.equal(await outcome(ann.list(CONFIG_MAPS, { namespace: 'default', fieldSelector: 'metadata.name=a' })), 'ok');
  assert.match(await outcome(clientAs('bob').get(CONFIG_MAPS, { namespace: 'default', name: 'a' })), /forbidden/);
});

test('a role for one name shows no other, however the field selector is spelled', async (t) => {
  const { client, clientAs, close } = await startTestServer();
  t.after(close);
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch', 'deletecollection'], resourceNames: ['a'] }];
  await grant(client, { namespace: 'default', rules, subject: { kind: 'User', name: 'ann', apiGroup: GROUP } });
  const collection = '/api/v1/namespaces/default/configmaps';
  for (const selector of ['metadata.name!=zz\\,metadata.name=a', 'metadata.namespace=default\\,metadata.name=a', 'metadata.name!=a']) {
    const query = `fieldSelector=${encodeURIComponent(selector)}`;
    assert.match(await outcome(clientAs('ann').request(`${collection}?${query}`)), /cannot list/);
    assert.match(await outcome(clientAs('ann').request(`${collection}?${query}&watch=1`)), /cannot watch/);
    assert.match(
      await outcome(clientAs('ann').request(`${collection}?${query}&dryRun=All`, { method: 'DELETE' })),
      /cannot deletecollection/,
    );
  }
});

test('groups and service accounts are subjects too', async (t) => {
  const { client, clientAs, close } = await startTestServer();
  t.after(close);
  const rules = [{ apiGroups: [''], resources: ['namespaces'], verbs: ['list'] }];
  await grant(client, { rules, subject: { kind: 'Group', name: 'devs', apiGroup: GROUP } });
  await grant(client, { rules, subject: { kind: 'ServiceAccount', name: 'bot', namespace: 'ci' }, name: 'bot' });
  assert.equal(await outcome(clientAs('ann', ['devs']).list(NAMESPACES)), 'ok');
  assert.equal(await outcome(clientAs('system:serviceaccount:ci:bot').list(NAMESPACES)), 'ok');
  assert.match(await outcome(clientAs('system:serviceaccount:other:bot').list(NAMESPACES)), /forbidden/);
});

test('a resource does not cover its subresources', async (t) => {
  const { client, clientAs, close } = await startTestServer();
  t.after(close);
  await grant(client, { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['*'] }], subject: { kind: 'User', name: 'ann' } });
  await grant(client, {
    rules: [{ apiGroups: [''], resources: ['pods/log'], verbs: ['get'] }],
    subject: { kind: 'User', name: 'bob' },
    name: 'log',
  });
  const path = '/api/v1/namespaces/default/pods/a/log';
  assert.match(await outcome(clientAs('ann').request(path)), /cannot get resource "pods\/log"/);
  assert.equal(await outcome(clientAs('bob').request(path)), 'NotFound');
});

test('strangers may ask for health and version, everybody with a name for discovery', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  const anonymous = { user: 'system:anonymous', groups: ['system:unauthenticated'] };
  const named = { user: 'ann', groups: ['system:authenticated'] };
  const paths = ['/healthz', '/livez', '/readyz', '/version', '/api', '/apis', '/openapi/v3', '/apis/apps/v1'];
  const codes = async (identity: typeof anonymous) => Promise.all(paths.map(async (path) => (await fetch(path, {}, identity)).status));
  assert.deepEqual(await codes(anonymous), [200, 200, 200, 200, 403, 403, 403, 403]);
  assert.deepEqual(await codes(named), [200, 200, 200, 200, 200, 200, 200, 200]);
});

test('everybody may ask what they may do', async (t) => {
  const { clientAs, close } = await startTestServer();
  t.after(close);
  const ask = async (user: string, resource: string) => {
    const spec = { resourceAttributes: { verb: 'get', resource, namespace: 'default' } };
    const body = JSON.stringify({ apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec });
    const answer = await clientAs(user).request('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { method: 'POST', body });
    return ((await answer.json()) as { status: { allowed: boolean } }).status.allowed;
  };
  assert.deepEqual([await ask('eve', 'pods'), await ask('system:kube-scheduler', 'pods')], [false, true]);
});
