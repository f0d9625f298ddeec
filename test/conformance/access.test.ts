import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeWithEachKubectl } from './each-kubectl.ts';
import { eventually } from './eventually.ts';

/** The numbers are those of the list of checks in the requirements of the embedded control plane. */
describeWithEachKubectl('who may do what', ({ cluster, since, namespace }) => {
  const must = (args: readonly string[]) => cluster().must(args);
  const refused = (args: readonly string[]) => cluster().refused(args);

  test('54: can-i says no, and yes as soon as there is a binding', async () => {
    const inside = await namespace('t54');
    const canI = async () => {
      const { code, stdout } = await cluster().kubectl(inside('auth', 'can-i', 'create', 'pods', '--as=system:serviceaccount:t54:default'));
      return [code, stdout.split(/\s/)[0]];
    };
    assert.deepEqual(await canI(), [1, 'no']);
    await must(inside('create', 'rolebinding', 'e', '--clusterrole=edit', '--serviceaccount=t54:default'));
    assert.deepEqual(await canI(), [0, 'yes']);
    assert.match(await must(['auth', 'can-i', '--list']), /\*\.\*/);
  });

  test('54: whoami prints user and groups', { skip: since('1.27', 'auth whoami') }, async () => {
    const text = await must(['auth', 'whoami']);
    assert.match(text, /Username\s+kubernetes-admin/);
    assert.match(text, /Groups\s+\[system:masters system:authenticated\]/);
  });

  test('55: a refusal names user, verb, resource, group and namespace', async () => {
    const inside = await namespace('t55');
    const text = 'secrets is forbidden: User "bob" cannot list resource "secrets" in API group "" in the namespace "t55"';
    assert.ok((await refused(inside('--as=bob', 'get', 'secrets'))).includes(`Error from server (Forbidden): ${text}`));
  });

  test('56: a role that says so becomes part of view', async () => {
    const part = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 't56', labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
      rules: [{ apiGroups: ['t56.example.com'], resources: ['things'], verbs: ['get'] }],
    };
    await must(['create', '-f', cluster().file('t56.json', part)]);
    const has = async () => (await must(['get', 'clusterrole', 'view', '-o', 'yaml'])).includes('t56.example.com');
    await eventually(has, () => 'for the rule to appear in view');
    await must(['delete', 'clusterrole', 't56']);
    await eventually(
      async () => !(await has()),
      () => 'for the rule to go from view',
    );
  });

  test('57: nobody grants what they do not have', async () => {
    const inside = await namespace('t57');
    await must(inside('create', 'sa', 'bob'));
    await must(['create', 'clusterrole', 't57', '--verb=create', '--resource=clusterroles']);
    await must(['create', 'clusterrolebinding', 't57', '--clusterrole=t57', '--serviceaccount=t57:bob']);
    const bob = '--as=system:serviceaccount:t57:bob';
    const error = await refused([bob, 'create', 'clusterrole', 't57-all', '--verb=*', '--resource=*.*']);
    assert.match(error, /[Ff]orbidden.*user "system:serviceaccount:t57:bob".*is attempting to grant RBAC permissions not currently held/);
    await must([bob, 'create', 'clusterrole', 't57-same', '--verb=create', '--resource=clusterroles']);
  });

  test('60: a token is its service account, until that is gone', async () => {
    const inside = await namespace('t60');
    await must(inside('create', 'sa', 'robot'));
    await must(inside('create', 'rolebinding', 'v', '--clusterrole=view', '--serviceaccount=t60:robot'));
    // the old kubectl cannot ask for a token, and can use one
    const token = (await cluster().mustAsCurrent(inside('create', 'token', 'robot', '--duration=10m'))).trim();
    const withToken = (...args: string[]) => ['--kubeconfig', cluster().kubeconfigWith({ token }), ...inside(...args)];
    assert.equal((await must(withToken('auth', 'can-i', 'list', 'pods'))).trim(), 'yes');
    await must(withToken('get', 'pods'));
    assert.match(await refused(withToken('get', 'secrets')), /User "system:serviceaccount:t60:robot" cannot list resource "secrets"/);
    await must(inside('delete', 'sa', 'robot'));
    assert.match(await refused(withToken('get', 'pods')), /Unauthorized|must be logged in/);
  });
});
