import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CreatedMachines } from './created-machines.ts';

test('machines are counted by namespace, other kinds and namespaces that are none are not', () => {
  const created = new CreatedMachines();
  for (const [kind, namespace] of [
    ['VirtualMachine', 'team'],
    ['VirtualMachine', 'team'],
    ['VirtualMachineInstance', 'team'],
    ['VirtualMachine', '<img src=x>'],
    ['VirtualMachine', ''],
  ] as const)
    created.observe(kind, namespace);
  assert.deepEqual(created.samples(), [{ labels: { namespace: 'team' }, value: 2 }]);
});
