import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { testDeps } from '../../../deps.testing.ts';
import { run } from './run.ts';

test('what is preferred, and nothing that was not said', () => {
  const { deps, stdout } = testDeps();
  run(deps, { name: 'linux', cpuTopology: 'cores', machineType: 'q35', namespaced: true });
  assert.deepEqual(parse(stdout()), {
    apiVersion: 'instancetype.kubevirt.io/v1beta1',
    kind: 'VirtualMachinePreference',
    metadata: { name: 'linux' },
    spec: { cpu: { preferredCPUTopology: 'cores' }, machine: { preferredMachineType: 'q35' } },
  });
});

test('a topology that nobody knows is refused', () => {
  assert.throws(() => run(testDeps().deps, { cpuTopology: 'rings', namespaced: false }), { code: 'USAGE', exitCode: 2 });
});
