import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vmi } from '../../testing/builders.ts';
import { type GuestOperation, hindranceOf, isOnItsWay } from './exclusive-operations.ts';
import type { VmiStatus } from './kinds/virtual-machine-instance.ts';

const told = { migrationUid: 'm1' };
const backup = (more: object) =>
  ({ changedBlockTracking: { state: 'Disabled', backupStatus: { backupUID: 'b1', claimName: 'c', ...more } } }) as const;
const OPERATIONS: readonly GuestOperation[] = ['move', 'suspension', 'memory dump', 'backup', 'hotplug', 'resize', 'snapshot'];

const CASES: readonly [string, Partial<VmiStatus>, readonly GuestOperation[]][] = [
  ['a guest like any other', {}, []],
  ['one that is moved', { migrationState: told }, OPERATIONS],
  ['one that was handed over and is not there yet', { migrationState: { ...told, completed: true } }, OPERATIONS],
  ['one that is there', { migrationState: { ...told, completed: true, targetNodeDomainReadyTimestamp: 'T' } }, []],
  ['one that stayed, and was not sent', { migrationState: { ...told, failed: true } }, []],
  ['one that was sent in vain, and is not back', { migrationState: { ...told, failed: true, startTimestamp: 'T' } }, OPERATIONS],
  ['one that is back', { migrationState: { ...told, failed: true, startTimestamp: 'T', sourceNodeDomainReadyTimestamp: 'T' } }, []],
  ['one that is suspended', { suspension: { phase: 'Saving' } }, ['move', 'memory dump', 'backup', 'hotplug', 'resize', 'snapshot']],
  [
    'one that was not, and stands still yet',
    { suspension: { phase: 'Failed', startTimestamp: 'T' } },
    ['move', 'memory dump', 'backup', 'hotplug', 'resize', 'snapshot'],
  ],
  ['one that was not, and runs on', { suspension: { phase: 'Failed' } }, []],
  [
    'one that is dumped',
    { volumeStatus: [{ name: 'd', target: '', memoryDumpVolume: { claimName: 'd' } }] },
    ['move', 'suspension', 'backup', 'snapshot'],
  ],
  ['one that is to be backed up', backup({}), ['move', 'suspension', 'resize']],
  ['one that is backed up', backup({ startTimestamp: 'T' }), ['move', 'suspension', 'memory dump', 'resize']],
  ['one that was', backup({ startTimestamp: 'T', completed: true }), []],
  ['one that is frozen', { fsFreezeStatus: 'frozen' }, ['move', 'suspension', 'memory dump', 'backup']],
];

for (const [name, status, excluded] of CASES)
  test(`${name}: what cannot be begun`, () => {
    const seen = vmi('Running', status);
    assert.deepEqual(
      OPERATIONS.filter((operation) => hindranceOf(operation, seen)),
      excluded,
    );
  });

test('a move is over on both nodes when the guest was let go on', () => {
  assert.deepEqual([isOnItsWay(undefined), isOnItsWay(told), isOnItsWay({ ...told, completed: true })], [false, true, true]);
});
