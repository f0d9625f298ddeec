import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VirtualMachineSnapshot } from '../api/kubevirt/kinds/vm-snapshot.ts';
import { newRestore, newSnapshot, snapshotName } from '../sdk/manifest/snapshot.ts';
import { vm, vmi } from '../testing/builders.ts';
import { deriveDisks, deriveRestore, deriveSnapshots, dropCommand, restoreCommand, snapshotCommand } from './derive-disks.ts';
import { deriveMachines, type Machine } from './derive-machines.ts';
import { deriveMove } from './derive-move.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');
const only = (machines: readonly Machine[]): Machine => machines[0] ?? assert.fail('there is one');
const stopped = () => only(deriveMachines([vm('Halted')], []));
const running = (status: object = {}) => only(deriveMachines([vm('Always')], [vmi('Running', { nodeName: 'n1', ...status })]));
const kept = (name: string, status: VirtualMachineSnapshot['status']): VirtualMachineSnapshot => ({
  ...newSnapshot({ namespace: 'default', vm: stopped().name, name }),
  ...(status && { status }),
});

test('snapshots are the machine’s own, from the oldest to the newest, and say why one cannot go back to them', () => {
  const whole = { phase: 'Succeeded', readyToUse: true, indications: ['Online', 'GuestAgent'] };
  const snapshots = [
    kept('older', { ...whole, creationTime: '2026-01-01T00:00:00Z', snapshotVolumes: { includedVolumes: ['root'] } }),
    kept('broken', { phase: 'Failed', creationTime: '2026-01-01T00:00:01Z', error: { message: 'no space' } }),
    { ...kept('foreign', whole), spec: { source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'another' } } },
  ];
  const rows = (machine: Machine, mayRestore = true) =>
    deriveSnapshots(machine, { snapshots, contents: [], restores: [], mayRestore }).map(({ name, disks, how, refusal }) => [
      name,
      disks,
      how,
      refusal,
    ]);
  assert.deepEqual(rows(stopped()), [
    ['older', 'root', 'while it ran, file systems frozen', undefined],
    ['broken', 'none', 'no space', 'it is not whole'],
  ]);
  assert.match(String(rows(running())[0]?.[3]), /runs; stop it first/);
  assert.match(String(rows(stopped(), false)[0]?.[3]), /you may not restore machines in default/);
});

test('a restore is told while it goes and when it failed, not when it is done', () => {
  const { name } = stopped();
  const restore = newRestore({ namespace: 'default', vm: name, snapshot: 'older', nowMs: NOW });
  assert.equal(deriveRestore(stopped(), []), undefined);
  assert.match(deriveRestore(stopped(), [restore]) ?? '', /becomes what it was in older/);
  assert.equal(deriveRestore(stopped(), [{ ...restore, status: { complete: true } }]), undefined);
  const conditions = [{ type: 'Failure', status: 'True' as const, reason: 'Failed', message: 'no class' }];
  assert.match(deriveRestore(stopped(), [{ ...restore, status: { conditions } }]) ?? '', /did not become .* older: no class/);
});

test('commands do the same, and name the namespace where it is another', () => {
  const there = { namespace: 'team', name: 'db' };
  const taken = snapshotName('db', NOW);
  assert.equal(taken, 'db-20260102t030405');
  assert.deepEqual(
    [snapshotCommand(there, taken), restoreCommand(there, 'a'), dropCommand({ namespace: 'default', name: 'db' }, 'a')],
    ['virtctl snapshot db db-20260102t030405 -n team', 'virtctl rollback db a -n team', 'kubectl delete vmsnapshot a'],
  );
});

test('disks say where they come from, and what the guest calls them', () => {
  const machine = running({
    volumeStatus: [
      { name: 'root', target: 'vda' },
      { name: 'data', target: '', phase: 'AttachedToNode', message: 'it is on its way' },
    ],
  });
  const volumes = [
    { name: 'root', containerDisk: { image: 'guests/tiny' } },
    { name: 'data', persistentVolumeClaim: { claimName: 'd', hotpluggable: true } },
  ];
  const spec = { ...(machine.vmi ?? assert.fail()).spec, volumes };
  const rows = deriveDisks({ ...machine, vmi: { ...(machine.vmi ?? assert.fail()), spec } });
  assert.deepEqual(rows, [
    { name: 'root', target: 'vda', source: 'containerDisk: guests/tiny', size: '–', canGo: false, state: undefined },
    { name: 'data', target: '–', source: 'persistentVolumeClaim: d', size: '–', canGo: true, state: 'it is on its way' },
  ]);
});

test('a move says from where to where, and why it failed', () => {
  const move = (migrationState: object) => deriveMove(running({ migrationState }))?.text;
  assert.equal(move({ sourceNode: 'n1', targetNode: 'n2' }), 'Migrating from n1 to n2');
  assert.equal(move({ abortRequested: true }), 'Migrating from n1 to another node; it is being cancelled');
  assert.equal(move({ failed: true, failureReason: 'no room' }), 'The last move failed: no room');
  assert.equal(move({ completed: true }), undefined);
  assert.equal(deriveMove(stopped()), undefined);
});
