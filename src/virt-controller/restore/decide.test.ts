import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import type { VirtualMachineRestore } from '../../api/kubevirt/kinds/vm-restore.ts';
import type { VirtualMachineSnapshot } from '../../api/kubevirt/kinds/vm-snapshot.ts';
import type { VirtualMachineSnapshotContent } from '../../api/kubevirt/kinds/vm-snapshot-content.ts';
import { ANNOTATION_LAST_RESTORE, FINALIZER_VM_RESTORE } from '../../api/kubevirt/names.ts';
import { explain } from '../../reconcile/decision.ts';
import { vm, vmi } from '../../testing/builders.ts';
import { decideVmRestore } from './decide.ts';
import type { ObservedVmRestore } from './observed.ts';

const MADE_AT = '2026-01-01T00:00:00Z';
const CLAIM = 'restore-r-1-root';

function restore(spec: Partial<VirtualMachineRestore['spec']> = {}, status?: VirtualMachineRestore['status']): VirtualMachineRestore {
  return {
    apiVersion: 'snapshot.kubevirt.io/v1beta1',
    kind: 'VirtualMachineRestore',
    metadata: { name: 'r', namespace: 'default', uid: 'r-1', creationTimestamp: MADE_AT, finalizers: [FINALIZER_VM_RESTORE] },
    spec: { target: { kind: 'VirtualMachine', name: 'db' }, virtualMachineSnapshotName: 's', ...spec },
    ...(status && { status }),
  };
}

const snapshot = {
  apiVersion: 'snapshot.kubevirt.io/v1beta1',
  kind: 'VirtualMachineSnapshot',
  metadata: { name: 's', namespace: 'default' },
  spec: { source: { kind: 'VirtualMachine', name: 'db' } },
  status: { readyToUse: true },
} as VirtualMachineSnapshot;
const volumeBackups = [{ volumeName: 'root', persistentVolumeClaim: { metadata: { name: 'db-root' }, spec: {} }, volumeSnapshotName: 'v' }];
const content = {
  spec: { source: { virtualMachine: { metadata: { name: 'db' }, spec: vm('Halted').spec } }, volumeBackups },
} as unknown as VirtualMachineSnapshotContent;

function claim(phase: string, ownerReferences?: readonly object[]): PersistentVolumeClaim {
  const annotations = { [ANNOTATION_LAST_RESTORE]: 'r-1' };
  return {
    ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', spec: {}, status: { phase } },
    metadata: { name: CLAIM, namespace: 'default', annotations, ...(ownerReferences && { ownerReferences }) },
  } as PersistentVolumeClaim;
}

const now = Date.parse(MADE_AT) + 60_000;
const late = Date.parse(MADE_AT) + 6 * 60_000;
const marked = vm('Halted', { restoreInProgress: 'r' });
const changed = { ...marked, metadata: { ...marked.metadata, annotations: { [ANNOTATION_LAST_RESTORE]: 'r-1' } } };
const owned = [{ uid: changed.metadata.uid }];
const decide = (seen: Partial<ObservedVmRestore>) =>
  decideVmRestore({ restore: restore(), snapshot, content, claims: new Map(), lateClasses: new Set(), now, ...seen });
/** With the events. */
const explained = (seen: Partial<ObservedVmRestore>) => {
  const decision = decide(seen);
  const events = decision.actions.flatMap((action) => ('event' in action && action.event ? [action.event] : []));
  return [...explain(decision), ...events.map(({ reason, message }) => `${reason}: ${message}`)];
};
const STATUS = 'patch VirtualMachineRestore status default/r: what is known of it has changed';
const FAILED = 'VirtualMachineRestoreFailed: VirtualMachine db is running: stop it';

describe('decideVmRestore', () => {
  const runs = { vm: vm('Always'), vmi: vmi('Running') };
  const rules: [string, Partial<ObservedVmRestore>, readonly string[]][] = [
    ['a machine that runs is waited for', runs, [STATUS, 'look again in 1s']],
    [
      'after five minutes it is not waited for any more',
      { ...runs, now: late },
      [STATUS, 'look again in 0.25s', `${FAILED}; it was waited for 5 minutes`],
    ],
    [
      'WaitEventually waits for ever',
      { ...runs, restore: restore({ targetReadinessPolicy: 'WaitEventually' }), now: late },
      [STATUS, 'look again in 1s'],
    ],
    [
      'FailImmediate fails at once',
      { ...runs, restore: restore({ targetReadinessPolicy: 'FailImmediate' }) },
      [STATUS, 'look again in 0.25s', FAILED],
    ],
    [
      'StopTarget stops it',
      { ...runs, restore: restore({ targetReadinessPolicy: 'StopTarget' }) },
      ['patch VirtualMachine default/db: restore r stops it'],
    ],
    [
      'StopTarget waits for one that is on its way down',
      { vm: vm('Halted'), vmi: vmi('Running'), restore: restore({ targetReadinessPolicy: 'StopTarget' }) },
      [STATUS, 'look again in 0.25s'],
    ],
    ['a machine at rest is marked', { vm: vm('Halted') }, ['patch VirtualMachine status default/db: restore r is changing it']],
    [
      'its claims are made',
      { vm: marked },
      [STATUS, `create PersistentVolumeClaim default/${CLAIM}: it begins as a snapshot`, 'look again in 0.25s'],
    ],
    [
      'claims that the machine has go with it',
      { vm: changed, claims: new Map([[CLAIM, claim('Bound')]]) },
      [`patch PersistentVolumeClaim default/${CLAIM}: it goes with db`, 'look again in 0.25s'],
    ],
    [
      'volumeOwnershipPolicy None leaves them',
      { vm: changed, claims: new Map([[CLAIM, claim('Bound')]]), restore: restore({ volumeOwnershipPolicy: 'None' }) },
      [STATUS, 'VirtualMachineRestoreComplete: db is what it was'],
    ],
    [
      'it is complete',
      { vm: changed, claims: new Map([[CLAIM, claim('Bound', owned)]]) },
      [STATUS, 'VirtualMachineRestoreComplete: db is what it was'],
    ],
    [
      'a snapshot that is not there yet is waited for',
      { vm: vm('Halted'), snapshot: undefined, content: undefined },
      [STATUS, 'look again in 1s'],
    ],
  ];
  for (const [name, seen, expected] of rules) test(name, () => assert.deepEqual(explained(seen), expected));
});

test('volumeOwnershipPolicy None makes claims that belong to nobody', () => {
  const ownersWith = (spec: Partial<VirtualMachineRestore['spec']>) =>
    decide({ vm: marked, restore: restore(spec) }).actions.flatMap((action) =>
      action.do === 'create' ? [(action.object.metadata.ownerReferences ?? []).map(({ name }) => name)] : [],
    );
  assert.deepEqual([ownersWith({}), ownersWith({ volumeOwnershipPolicy: 'None' })], [[['db']], [[]]]);
});

test('a restore whose snapshot is deleted says so', () => {
  const restores = [{ volumeName: 'root', persistentVolumeClaim: CLAIM, volumeSnapshotName: 'v' }];
  const begun = { restore: restore({}, { restores }), snapshot: undefined, content: undefined };
  const said = (seen: Partial<ObservedVmRestore>) => JSON.stringify(decide({ ...begun, ...seen }).actions);
  assert.match(said({ vm: marked }), /"SnapshotUnusable","message":"VirtualMachineSnapshot s was deleted while it was restored"/);
  assert.match(said({ vm: changed }), /was deleted while it was restored: the machine has its disks already"/);
});

test('a machine that is suspended is waited for as one that runs is, and keeps its memory', () => {
  const suspended = vm('Always', { suspension: { phase: 'Suspended', claimName: 'memory' } } as never);
  const why = 'VirtualMachine db is suspended, and its memory knows the disks of now: virtctl stop throws it away';
  const failed = `VirtualMachineRestoreFailed: ${why}`;
  const policies = [undefined, 'FailImmediate', 'StopTarget', 'WaitEventually'] as const;
  const ends = (at: number) =>
    policies.map((policy) => {
      const lines = explained({ vm: suspended, now: at, restore: restore(policy && { targetReadinessPolicy: policy }) });
      return lines.filter((line) => !line.startsWith(STATUS) && !line.startsWith('look again'));
    });
  assert.deepEqual(ends(now), [[], [failed], [], []]);
  const later = `${failed}; it was waited for 5 minutes`;
  assert.deepEqual(ends(late), [[later], [failed], [later], []]);
});
