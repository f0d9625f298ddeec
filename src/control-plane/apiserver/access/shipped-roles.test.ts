import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { BOOTSTRAP_CLUSTER_ROLE_BINDINGS, BOOTSTRAP_CLUSTER_ROLES, type Role } from './bootstrap-roles-table.ts';
import { allows, type PolicyRule } from './policy-rule.ts';

const COMPONENTS = clusterRolesIn('deploy/rbac-components.yaml');

function clusterRolesIn(path: string): Role[] {
  const documents = parseAllDocuments(readFileSync(path, 'utf8')).map((document) => document.toJS() as Role);
  return documents.filter(({ kind }) => kind === 'ClusterRole');
}

function grants(rules: readonly PolicyRule[], verb: string, resource: string, group = ''): boolean {
  const attributes = { type: 'resource', verb, group, resource, subresource: undefined, namespace: 'any', name: 'any' } as const;
  return rules.some((rule) => allows(rule, attributes));
}

test('no component of ours may look through Secrets, change roles, or do everything', () => {
  for (const { metadata, rules } of COMPONENTS) {
    for (const verb of ['list', 'watch', 'deletecollection'])
      assert.equal(grants(rules, verb, 'secrets'), false, `${metadata.name}: ${verb}`);
    for (const verb of ['create', 'update', 'patch', 'bind', 'escalate']) {
      for (const resource of ['clusterroles', 'clusterrolebindings', 'rolebindings']) {
        assert.equal(grants(rules, verb, resource, 'rbac.authorization.k8s.io'), false, `${metadata.name}: ${verb} ${resource}`);
      }
    }
    assert.equal(grants(rules, 'impersonate', 'users'), false, metadata.name);
    assert.ok(!rules.some(({ verbs = [], resources = [] }) => verbs.includes('*') || resources.includes('*')), metadata.name);
  }
});

test('virt-operator changes and removes only what it installs by name, and sees no Secrets outside of its namespace', () => {
  const [operator, ...others] = clusterRolesIn('deploy/kubevirt-operator.yaml');
  assert.deepEqual([operator?.metadata.name, others.length], ['kubevirt-operator', 0]);
  const rules = operator?.rules ?? [];
  for (const verb of ['get', 'list', 'watch']) assert.equal(grants(rules, verb, 'secrets'), false, verb);
  const isOurs = ({ apiGroups = [], resources = [] }: PolicyRule) =>
    apiGroups.every((group) => /^(\w+\.)?kubevirt\.io$/.test(group)) ||
    resources.every((resource) => ['nodes', 'events'].includes(resource));
  const changing = (verb: string) => ['update', 'patch', 'delete', 'deletecollection', 'bind', 'escalate', '*'].includes(verb);
  for (const rule of rules.filter((each) => !isOurs(each) && (each.verbs ?? []).some(changing)))
    assert.ok((rule.resourceNames ?? []).length > 0, JSON.stringify(rule));
});

test('view shows no Secrets, edit changes no roles, and strangers hold nothing but health and version', () => {
  const rulesOf = (name: string) => BOOTSTRAP_CLUSTER_ROLES.find(({ metadata }) => metadata.name === name)?.rules ?? [];
  assert.equal(grants(rulesOf('view'), 'get', 'secrets'), false);
  for (const verb of ['create', 'patch', 'delete', 'impersonate']) assert.equal(grants(rulesOf('view'), verb, 'pods'), false, verb);
  assert.equal(grants(rulesOf('edit'), 'create', 'rolebindings', 'rbac.authorization.k8s.io'), false);
  assert.equal(grants(rulesOf('admin'), 'create', 'rolebindings', 'rbac.authorization.k8s.io'), true);
  assert.equal(grants(rulesOf('admin'), 'escalate', 'roles', 'rbac.authorization.k8s.io'), false);
  const open = BOOTSTRAP_CLUSTER_ROLE_BINDINGS.filter(({ subjects }) => JSON.stringify(subjects).includes('unauthenticated'));
  assert.deepEqual(
    open.map(({ metadata }) => metadata.name),
    ['system:public-info-viewer'],
  );
});

test('every default binding refers to a default role', () => {
  const names = BOOTSTRAP_CLUSTER_ROLES.map(({ metadata }) => metadata.name);
  for (const { roleRef } of BOOTSTRAP_CLUSTER_ROLE_BINDINGS)
    assert.ok(names.includes((roleRef as { name: string }).name), JSON.stringify(roleRef));
});
