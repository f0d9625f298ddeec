import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DataVolume } from '../../api/kubevirt/kinds/data-volume.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { FINALIZER_VM_CONTROLLER } from '../../api/kubevirt/names.ts';
import { explain } from '../../reconcile/decision.ts';
import { vm } from '../../testing/builders.ts';
import { dataVolume } from '../data-volume/data-volume.testing.ts';
import { decideVm } from './decide.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const template = { metadata: { name: 'root', labels: { a: 'b' } }, spec: { source: { blank: {} }, storage: {} } };

function machine(strategy: 'Always' | 'Halted', annotations: Record<string, string> = {}): VirtualMachine {
  const plain = vm(strategy, {}, { finalizers: [FINALIZER_VM_CONTROLLER], annotations });
  return { ...plain, spec: { ...plain.spec, dataVolumeTemplates: [template] } };
}

const decided = (machineNow: VirtualMachine, ...found: DataVolume[]) =>
  decideVm({ vm: machineNow, now, dataVolumes: new Map(found.map((each) => [each.metadata.name, each])) });
const creates = (...args: Parameters<typeof decided>) => explain(decided(...args)).filter((line) => line.startsWith('create'));

describe('the DataVolumes of a machine', () => {
  test('are made at once, also when it does not run, and go with it', () => {
    const [action] = decided(machine('Halted')).actions;
    const made = action?.do === 'create' ? action.object : undefined;
    assert.deepEqual(
      [made?.kind, made?.metadata.name, made?.metadata.labels?.['a'], made?.metadata.ownerReferences?.[0]?.kind],
      ['DataVolume', 'root', 'b', 'VirtualMachine'],
    );
  });

  test('are made with the first start where it says so', () => {
    const later = { 'kubevirt.io/immediate-data-volume-creation': 'false' };
    assert.deepEqual(creates(machine('Halted', later)), []);
    assert.deepEqual(creates(machine('Always', later)), ['create DataVolume default/root: the VM has a template for it']);
  });

  for (const phase of [undefined, 'Pending', 'ImportScheduled', 'ImportInProgress', 'WaitForFirstConsumer', 'Failed'] as const)
    test(`nothing is started while one of them is ${phase ?? 'new'}`, () => {
      assert.deepEqual(creates(machine('Always'), dataVolume(phase)), []);
    });

  test('a machine is started when they are filled', () => {
    assert.match(
      creates(machine('Always'), dataVolume('Succeeded')).join(),
      /create VirtualMachineInstance default\/db: runStrategy Always/,
    );
  });

  test('an empty one that waits for its first user is no obstacle', () => {
    const empty = { ...dataVolume('WaitForFirstConsumer'), spec: { source: { blank: {} }, storage: {} } };
    assert.match(creates(machine('Always'), empty).join(), /create VirtualMachineInstance/);
  });

  test('why one cannot be filled is an event of the machine, once', () => {
    const failing = dataVolume('ImportInProgress', 'Error');
    const [action] = decided(machine('Always'), failing).actions;
    assert.deepEqual(action?.event, {
      type: 'Warning',
      reason: 'FailedDataVolumeImport',
      message: 'DataVolume root: error[DIGEST_MISMATCH]: wrong',
    });
    const told = { ...machine('Always'), status: { printableStatus: 'DataVolumeError' } };
    assert.equal(decided(told, failing).actions[0]?.event, undefined);
  });
});
