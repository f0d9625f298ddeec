import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineSnapshot } from '../../api/kubevirt/kinds/vm-snapshot.ts';
import type { VirtualMachineSnapshotContent } from '../../api/kubevirt/kinds/vm-snapshot-content.ts';
import { vm, vmi } from '../../testing/builders.ts';
import { recordOf } from '../vm/suspension.ts';
import { backupsOf, memoryStep } from './memory.ts';
import type { ObservedVmSnapshot } from './observed.ts';

const suspended = (more: object = {}) =>
  vm('Always', { snapshotInProgress: 's', suspension: { phase: 'Suspended', digest: 'd', claimName: 'c', ...more } });
const runs = vm('Always', { snapshotInProgress: 's' });
const instance = { ...vmi('Running'), spec: { ...vmi('Running').spec, volumes: [] } };
const kept = recordOf(runs, 'vmi-1', {});
const content = { spec: { source: {}, memory: { digest: 'd', volumeSnapshotName: 'v' } } } as unknown as VirtualMachineSnapshotContent;
const because = (message: string) => ({
  conditions: [{ type: 'Suspended', status: 'False' as const, message }],
});

function stepOf(machine: VirtualMachine, more: Partial<ObservedVmSnapshot> = {}, indications?: string[]) {
  const snapshot = {
    metadata: { name: 's', uid: 'u' },
    spec: { source: { kind: 'VirtualMachine', name: 'db' }, memory: true },
    status: { ...(indications && { indications }) },
  } as unknown as VirtualMachineSnapshot;
  const nothing = { claims: new Map(), claimsInUse: new Set<string>(), volumeSnapshots: new Map(), hasVolumeSnapshots: true };
  const step = memoryStep({ snapshot, ...nothing, quiesce: 'untouched', hasPaused: false, now: 0, ...more }, machine);
  return 'message' in step ? `${step.do}: ${step.message}` : step.do;
}

const CASES: readonly [string, string, string][] = [
  ['a guest that runs is asked to stop', stepOf(runs, { vmi: instance }), 'suspend'],
  ['one that is to be moved is not, until that is over', stepOf(runs, { vmi: instance, migration: 'm' }), 'wait: db is being moved, by m'],
  ['what was asked for before goes on', stepOf(suspended({ phase: 'Suspending' }), { vmi: instance, migration: 'm' }), 'tell'],
  ['one that is on its way is told of', stepOf(suspended({ phase: 'Suspending' }), { vmi: instance }), 'tell'],
  ['its instance has to be gone', stepOf(suspended(), { vmi: vmi('Succeeded'), kept }), 'wait: the instance of db is not gone yet'],
  ['then it is taken', stepOf(suspended(), { kept }), 'take'],
  ['one that goes on is waited for', stepOf(suspended({ phase: 'Resuming' })), 'wait: db is Resuming'],
  [
    'what is half taken fails when the machine has gone on',
    stepOf(runs, { content, vmi: instance }, ['Memory']),
    'fail: its memory was not kept: db runs again meanwhile',
  ],
  ['and goes on while the machine stands still', stepOf(suspended(), { content }), 'take'],
  [
    'other memory is not what was kept',
    stepOf(suspended({ digest: 'e' }), { content }),
    'fail: its memory was not kept: db runs again meanwhile',
  ],
  [
    'a machine that could not be suspended says why',
    stepOf(vm('Always', { snapshotInProgress: 's', ...because('the PVC did not take it') }), { vmi: instance }, ['Online', 'Memory']),
    'fail: its memory was not kept: the PVC did not take it',
  ],
  ['a machine at rest has none', stepOf(vm('Halted', { snapshotInProgress: 's' })), 'fail: its memory cannot be kept: VM is not running'],
];

describe('what has to be so before memory is kept', () => {
  for (const [name, step, expected] of CASES) test(name, () => assert.equal(step, expected));

  test('the memory is kept beside the volumes, under a name that no volume has', () => {
    assert.deepEqual(
      backupsOf(content).map(({ volumeName, volumeSnapshotName }) => [volumeName, volumeSnapshotName]),
      [['-memory', 'v']],
    );
    assert.deepEqual(backupsOf(undefined), []);
  });
});
