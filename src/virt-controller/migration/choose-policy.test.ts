import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MigrationPolicy } from '../../api/kubevirt/kinds/migration-policy.ts';
import { choosePolicy, lookAtNamespaces } from './choose-policy.ts';

function policy(name: string, selectors: MigrationPolicy['spec']['selectors']): MigrationPolicy {
  return { apiVersion: 'migrations.kubevirt.io/v1alpha1', kind: 'MigrationPolicy', metadata: { name }, spec: { selectors } };
}

const one = policy('one', { virtualMachineInstanceSelector: { app: 'db' } });
const two = policy('two', { virtualMachineInstanceSelector: { app: 'db' }, namespaceSelector: { team: 'a' } });
const nobody = policy('aa', {});
const db = { vmi: { app: 'db' }, namespace: { team: 'a' } };
const chosen = (policies: readonly MigrationPolicy[], labels = db) => choosePolicy(policies, labels)?.metadata.name;

test('the policy with the most labels holds, whatever its name and place', () => {
  assert.deepEqual([chosen([one, two]), chosen([two, one])], ['two', 'two']);
});

test('of two that say as much the first by name holds', () => {
  assert.equal(chosen([policy('c', one.spec.selectors), policy('b', { namespaceSelector: { team: 'a' } })]), 'b');
});

test('every label has to be there, with its value', () => {
  assert.equal(chosen([two], { vmi: { app: 'db' }, namespace: { team: 'b' } }), undefined);
  assert.equal(chosen([two, one], { vmi: { app: 'db' }, namespace: { team: 'b' } }), 'one');
  assert.equal(chosen([policy('p', { virtualMachineInstanceSelector: { constructor: 'x' } })]), undefined);
});

test('a policy without labels is for nobody', () => {
  assert.equal(chosen([nobody]), undefined);
});

test('namespaces are asked for only where a policy looks at them', () => {
  assert.deepEqual([lookAtNamespaces([one, nobody]), lookAtNamespaces([one, two])], [false, true]);
});
