import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigMap } from '../../api/core/configmap.ts';
import type { Namespace } from '../../api/core/namespace.ts';
import type { ClusterRole } from '../../api/core/rbac.ts';
import { explain } from '../../reconcile/decision.ts';
import { decideAggregation } from './decide-aggregation.ts';
import { decideRootCa, decideServiceAccount } from './decide-namespace.ts';

const namespace: Namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } };
const leaving: Namespace = { ...namespace, metadata: { name: 'team', deletionTimestamp: '2026-11-15T12:00:00Z' } };

function rootCa(ca: string): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'team', name: 'kube-root-ca.crt' }, data: { 'ca.crt': ca } };
}

function role(name: string, rules: object[], more: Partial<ClusterRole> = {}): ClusterRole {
  const labels = { part: 'true' };
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name, labels }, rules, ...more };
}

test('a namespace gets what it lacks, and nothing on its way out', () => {
  const create = ['create ServiceAccount team/default: every namespace has a default service account'];
  assert.deepEqual(explain(decideServiceAccount({ namespace, serviceAccount: undefined })), create);
  assert.deepEqual(explain(decideServiceAccount({ namespace: leaving, serviceAccount: undefined })), []);
  const patch = ['patch ConfigMap team/kube-root-ca.crt: it does not hold the authority of this cluster'];
  assert.deepEqual(explain(decideRootCa({ namespace, configMap: rootCa('old'), ca: 'new' })), patch);
  assert.deepEqual(explain(decideRootCa({ namespace, configMap: rootCa('new'), ca: 'new' })), []);
  assert.deepEqual(explain(decideRootCa({ namespace: leaving, configMap: undefined, ca: 'new' })), []);
});

test('a role has the rules of those it selects, by name, each once, and its own never', () => {
  const [one, two] = [{ verbs: ['get'] }, { verbs: ['list'] }];
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { part: 'true' } }] };
  const sum = role('sum', [{ verbs: ['*'] }], { aggregationRule });
  const all = [role('b', [two, one]), role('a', [one]), sum, role('c', [{ verbs: ['no'] }], { metadata: { name: 'c' } })];
  const [action] = decideAggregation({ role: sum, all }).actions;
  assert.deepEqual(action?.do === 'patch' && action.patch, { rules: [one, two] });
  assert.deepEqual(decideAggregation({ role: { ...sum, rules: [one, two] }, all }).actions, []);
  assert.deepEqual(decideAggregation({ role: role('plain', []), all }).actions, []);
});
