import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VirtualMachine } from '../api/kubevirt/kinds/virtual-machine.ts';
import { explain } from '../reconcile/decision.ts';
import { vm } from '../testing/builders.ts';
import { decideDerived, type Task, whoseIs } from './decide.ts';
import { deriveVm } from './derive.ts';
import { vmctlPod } from './pod.testing.ts';

const prototype = vm('Halted');
const task: Task = { namespace: 'default', name: 'db-web-0', pod: vmctlPod(), prototypeKey: 'default/db' };
const outside: Task = { namespace: 'default', name: 'db-here', prototypeKey: 'default/db' };
const ours = deriveVm({ ...task, prototype });
const deleting = { ...ours, metadata: { ...ours.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
const earlier = deriveVm({ ...task, prototype, pod: vmctlPod({ uid: 'pod-0' }) });
const otherPods = deriveVm({ ...task, prototype, pod: vmctlPod({ uid: 'pod-9', name: 'api-0' }) });

const RULES: readonly [string, VirtualMachine | undefined, VirtualMachine | undefined, readonly string[]][] = [
  ['none, prototype there', undefined, prototype, ['create VirtualMachine default/db-web-0: no machine is derived from default/db yet']],
  [
    'none, prototype gone',
    undefined,
    undefined,
    ['record event PrototypeMissing: Cannot make virtual machine default/db-web-0: its prototype default/db is gone'],
  ],
  ['being deleted', deleting, prototype, []],
  ['of an earlier Pod', earlier, prototype, ['delete VirtualMachine default/db-web-0: it belongs to an earlier Pod of the same name']],
  ['of another Pod', otherPods, prototype, []],
  ['of nobody', vm('Always', {}, { name: 'db-web-0' }), prototype, []],
  ['ours', ours, prototype, []],
  ['ours, stopped by its owner', { ...ours, spec: { ...ours.spec, runStrategy: 'Halted' } }, prototype, []],
  ['ours, prototype gone', ours, undefined, []],
];
for (const [name, machine, from, expected] of RULES) {
  test(`machine: ${name}`, () => {
    assert.deepEqual(explain(decideDerived({ task, prototype: from, vm: machine })), expected);
  });
}

test('outside a Pod a machine is ours when it was derived from the same prototype, and belongs to no Pod', () => {
  assert.equal(whoseIs(deriveVm({ ...outside, prototype }), outside), 'ours');
  assert.equal(whoseIs(deriveVm({ ...outside, prototype }), { ...outside, prototypeKey: 'default/api' }), 'foreign');
  assert.equal(whoseIs(ours, outside), 'foreign');
  assert.equal(whoseIs(deriveVm({ ...outside, prototype }), task), 'foreign');
});
