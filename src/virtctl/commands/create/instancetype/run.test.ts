import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { testDeps } from '../../../deps.testing.ts';
import { run } from './run.ts';

test('a size for the cluster, or for a namespace', () => {
  const { deps, stdout } = testDeps();
  run(deps, { name: 'small', cpu: 2, memory: '1Gi', gpu: ['name:g,devicename:example.org/gpu'], namespaced: false });
  assert.deepEqual(parse(stdout()), {
    apiVersion: 'instancetype.kubevirt.io/v1beta1',
    kind: 'VirtualMachineClusterInstancetype',
    metadata: { name: 'small' },
    spec: { cpu: { guest: 2 }, gpus: [{ name: 'g', deviceName: 'example.org/gpu' }], memory: { guest: '1Gi' } },
  });
  const other = testDeps();
  run(other.deps, { cpu: 1, memory: '1Gi', namespaced: true });
  const { kind, metadata } = parse(other.stdout());
  assert.deepEqual([kind, /^instancetype-[a-z0-9]{5}$/.test(metadata.name)], ['VirtualMachineInstancetype', true]);
});

for (const wrong of [{ cpu: 0 }, { cpu: 1.5 }, { memory: 'much' }, { gpu: ['name:g'] }]) {
  test(`${JSON.stringify(wrong)} is refused`, () => {
    assert.throws(() => run(testDeps().deps, { cpu: 1, memory: '1Gi', namespaced: false, ...wrong }), { code: 'USAGE', exitCode: 2 });
  });
}
