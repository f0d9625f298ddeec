import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startTestServer } from '../test-server.testing.ts';
import { bindRole, CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, grant, outcome, ROLES } from './rights.testing.ts';

const API_VERSION = 'rbac.authorization.k8s.io/v1';
const RBAC_WRITES = { apiGroups: ['rbac.authorization.k8s.io'], resources: ['*'], verbs: ['get', 'create', 'update', 'patch'] };
const READ_PODS = { apiGroups: [''], resources: ['pods', 'pods/log'], verbs: ['get', 'list'] };
const bob = { kind: 'User', name: 'bob' };

function clusterRole(name: string, rules: object[], more: object = {}) {
  return { apiVersion: API_VERSION, kind: 'ClusterRole', metadata: { name }, rules, ...more };
}

async function start(t: TestContext, rules: object[]) {
  const api = await startTestServer();
  t.after(() => api.close());
  await grant(api.client, { rules, subject: bob });
  return { ...api, bob: api.clientAs('bob') };
}

test('nobody makes a role with rights of which they do not hold all', async (t) => {
  const { bob } = await start(t, [RBAC_WRITES, READ_PODS]);
  assert.equal(
    await outcome(bob.create(CLUSTER_ROLES, clusterRole('all', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]))),
    'clusterroles.rbac.authorization.k8s.io "all" is forbidden: user "bob" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
      '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}',
  );
  const attempts: [object, RegExp][] = [
    [{ apiGroups: [''], resources: ['pods'], verbs: ['get'], resourceNames: ['a'] }, /^ok$/],
    [READ_PODS, /^ok$/],
    [{ apiGroups: [''], resources: ['pods'], verbs: ['delete'] }, /not currently held/],
    [{ apiGroups: [''], resources: ['pods/exec'], verbs: ['get'] }, /not currently held/],
    [{ apiGroups: [''], resources: ['*/log'], verbs: ['get'] }, /not currently held/],
    [{ apiGroups: ['*'], resources: ['pods'], verbs: ['get'] }, /not currently held/],
    [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }, /not currently held/],
    [{ nonResourceURLs: ['/apis/apps'], verbs: ['get'] }, /^ok$/],
  ];
  for (const [index, [rule, expected]] of attempts.entries()) {
    assert.match(await outcome(bob.create(CLUSTER_ROLES, clusterRole(`r${index}`, [rule]))), expected, JSON.stringify(rule));
  }
  assert.match(await outcome(bob.patch(CLUSTER_ROLES, { name: 'r' }, { rules: [{ ...READ_PODS, verbs: ['*'] }] })), /not currently held/);
  assert.equal(await outcome(bob.patch(CLUSTER_ROLES, { name: 'cluster-admin' }, { metadata: { labels: { a: 'b' } } })), 'ok');
});

test('a role that others fill is for those who hold everything', async (t) => {
  const { bob } = await start(t, [RBAC_WRITES]);
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] };
  assert.match(await outcome(bob.create(CLUSTER_ROLES, clusterRole('sum', [], { aggregationRule }))), /not currently held/);
});

test('nobody binds a role that is more than they hold, unless they may bind it', async (t) => {
  const { client, bob: user } = await start(t, [RBAC_WRITES, READ_PODS]);
  const bind = (name: string, namespace?: string) => outcome(bindRole(user, { name, subject: bob, namespace }));
  assert.match(await bind('cluster-admin'), /not currently held/);
  assert.match(await bind('admin', 'default'), /not currently held/);
  assert.equal(await bind('missing'), 'NotFound');
  await client.create(CLUSTER_ROLES, clusterRole('pods', [READ_PODS]));
  assert.equal(await bind('pods'), 'ok');
  const rules = [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], verbs: ['bind'], resourceNames: ['admin'] }];
  await grant(client, { rules, subject: bob, name: 'binder' });
  assert.equal(await bind('admin', 'default'), 'ok');
  assert.match(await bind('cluster-admin', 'default'), /not currently held/);
});

test('what somebody holds in a namespace they may give away there only', async (t) => {
  const { client, clientAs } = await start(t, []);
  const ann = { kind: 'User', name: 'ann' };
  await grant(client, { namespace: 'default', rules: [RBAC_WRITES, READ_PODS], subject: ann });
  await grant(client, { rules: [RBAC_WRITES], subject: ann, name: 'writer' });
  const role = (namespace: string) => ({ apiVersion: API_VERSION, kind: 'Role', metadata: { name: 'x', namespace }, rules: [READ_PODS] });
  assert.equal(await outcome(clientAs('ann').create(ROLES, role('default'))), 'ok');
  assert.match(await outcome(clientAs('ann').create(ROLES, role('kube-public'))), /not currently held/);
  assert.match(await outcome(clientAs('ann').create(CLUSTER_ROLES, clusterRole('x', [READ_PODS]))), /not currently held/);
});

test('a binding keeps its role, and says something', async (t) => {
  const { client } = await start(t, []);
  const other = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
  await assert.rejects(client.patch(CLUSTER_ROLE_BINDINGS, { name: 'r' }, { roleRef: other }), /cannot change roleRef/);
  assert.equal(await outcome(bindRole(client, { name: 'view', subject: { kind: 'ServiceAccount', name: 'x' } })), 'Invalid');
  assert.equal(await outcome(bindRole(client, { name: 'view', subject: { kind: 'Robot', name: 'x' } })), 'Invalid');
  assert.equal(await outcome(client.create(CLUSTER_ROLES, clusterRole('v', [{ apiGroups: [''], resources: ['pods'] }]))), 'Invalid');
});

test('a role that multiplies out to too many permissions is refused before it is judged', async (t) => {
  const { bob, client } = await start(t, [RBAC_WRITES]);
  const words = Array.from({ length: 3000 }, (_, index) => `w${index}`);
  const huge = clusterRole('huge', [{ verbs: words, apiGroups: words, resources: words }]);
  await assert.rejects(bob.create(CLUSTER_ROLES, huge), /multiply out to 27000000000 permissions/);
  assert.equal(await outcome(client.create(CLUSTER_ROLES, huge)), 'ok', 'an administrator is not asked what they hold');
});

test('of permissions that are not held the first hundred are named', async (t) => {
  const { bob } = await start(t, [RBAC_WRITES]);
  const words = Array.from({ length: 100 }, (_, index) => `w${index}`);
  const large = clusterRole('large', [{ verbs: words, apiGroups: words, resources: ['x'] }]);
  assert.equal((await outcome(bob.create(CLUSTER_ROLES, large))).split('\n').length, 101);
});
