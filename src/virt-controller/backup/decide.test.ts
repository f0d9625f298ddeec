import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../api/core/pod.ts';
import type { BackupRequest } from '../../api/kubevirt/backup.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { VirtualMachineBackup, VmBackupStatus } from '../../api/kubevirt/kinds/vm-backup.ts';
import { BACKUP_CONTAINER } from '../../api/launcher/backup.ts';
import { mergePatch } from '../../base/json.ts';
import { explain } from '../../reconcile/decision.ts';
import { launcherPod, vm, vmi } from '../../testing/builders.ts';
import { decideVmBackup } from './decide.ts';
import type { ObservedVmBackup } from './observed.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const at = { namespace: 'default', creationTimestamp: '2026-01-01T00:00:00Z', resourceVersion: '1' };
const finalizers = ['backup.kubevirt.io/vmbackup-protection'];
const spec = { source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'db' }, pvcName: 'backups' };
const backup = (status: VmBackupStatus = {}, more: object = {}): VirtualMachineBackup => ({
  ...{ apiVersion: 'backup.kubevirt.io/v1alpha1', kind: 'VirtualMachineBackup', spec, status },
  metadata: { ...at, name: 'one', uid: 'b1', finalizers, ...more },
});
const is = (type: string): VmBackupStatus => ({ conditions: [{ type, status: 'True' }] });
const asked: BackupRequest = { backupName: 'one', backupUID: 'b1', claimName: 'backups', folder: 'db/one-1' };
const instance = (backupStatus?: BackupRequest, more = {}): VirtualMachineInstance =>
  vmi('Running', { changedBlockTracking: { state: 'Disabled', ...(backupStatus && { backupStatus }) }, ...more });
const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const writer = (state: object, phase = 'Running'): Pod =>
  ({
    ...{ apiVersion: 'v1', kind: 'Pod', spec: { containers: [] }, metadata: { ...at, name: 'hp-volume-1', uid: 'p1' } },
    status: { phase, containerStatuses: [{ name: BACKUP_CONTAINER, state }] },
  }) as unknown as Pod;
const running = writer({ running: { startedAt: at.creationTimestamp } });
const begun = { ...asked, podUID: 'p1', startTimestamp: at.creationTimestamp };

const CASES: readonly [string, Partial<ObservedVmBackup>, string[]][] = [
  [
    'one that is new is held until its instance has forgotten it',
    { backup: backup({}, { finalizers: [] }) },
    ['patch VirtualMachineBackup default/one: its instance forgets it first'],
  ],
  ['the instance is asked for it', {}, ['patch VirtualMachineInstance default/db: its disks are to be backed up']],
  [
    'one of another backup is waited for',
    { vmi: instance({ ...asked, backupUID: 'b0', backupName: 'zero' }) },
    ['patch VirtualMachineBackup status default/one: backup zero of the machine is being made', 'look again in 1s'],
  ],
  [
    'one of a backup that is gone is not, when it is over',
    { vmi: instance({ ...begun, backupUID: 'b0', failed: true }), isForgotten: true },
    ['patch VirtualMachineInstance default/db: its disks are to be backed up'],
  ],
  [
    'a Pod is made for what was asked',
    { vmi: instance(asked) },
    [
      'patch VirtualMachineBackup status default/one: the instance is asked for it',
      'create Pod default/hp-volume-b2ef0fc1f8: the disks of the guest are to be backed up',
    ],
  ],
  [
    'a Pod that runs is told to the instance',
    { vmi: instance(asked), backup: backup(is('Progressing')), pod: running },
    [
      'patch VirtualMachineBackup status default/one: the instance is asked for it',
      'patch VirtualMachineInstance default/db: the Pod that writes its backup is there',
    ],
  ],
  [
    'a Pod that has ended fails it',
    { vmi: instance(asked), pod: writer({ terminated: { exitCode: 1, message: 'no room' } }, 'Failed') },
    [
      'patch VirtualMachineBackup status default/one: the instance is asked for it',
      'patch VirtualMachineInstance default/db: the Pod that writes it ended: no room',
    ],
  ],
  [
    'one that failed says why',
    { vmi: instance({ ...begun, failed: true, backupMsg: 'No space left on device' }) },
    ['patch VirtualMachineBackup status default/one: No space left on device'],
  ],
  [
    'one that is whole is Done',
    { vmi: instance({ ...begun, completed: true, type: 'Full', bytes: 5 }) },
    ['patch VirtualMachineBackup status default/one: all of it is on the PVC'],
  ],
  [
    'the instance forgets what is over, and its Pod goes',
    { backup: backup(is('Done')), vmi: instance({ ...begun, completed: true }), pod: running },
    ['delete Pod default/hp-volume-1: no disks are being backed up', 'patch VirtualMachineInstance default/db: its backup is over'],
  ],
  ['what is over and forgotten is left alone', { backup: backup(is('Failed')) }, []],
  [
    'an instance that is another one has ended it',
    { backup: backup(is('Progressing')) },
    ['patch VirtualMachineBackup status default/one: the instance ended before its disks were backed up'],
  ],
  [
    'one that is deleted while it is made is ended',
    { backup: backup(is('Progressing'), deleted), vmi: instance(begun) },
    ['patch VirtualMachineInstance default/db: its backup is deleted'],
  ],
  ['and waited for', { backup: backup(is('Progressing'), deleted), vmi: instance({ ...begun, abort: true }) }, []],
  ['then it goes', { backup: backup(is('Progressing'), deleted) }, ['patch VirtualMachineBackup default/one: nothing is left of it']],
];

describe('decideVmBackup', () => {
  test('of a request that was left nothing stays in the next', () => {
    const observed = seenWith({ vmi: instance({ ...begun, backupUID: 'b0', failed: true, backupMsg: 'x' }), isForgotten: true });
    const [action] = decideVmBackup(observed).actions;
    const patched = action?.do === 'patch' ? (mergePatch(observed.vmi, action.patch) as VirtualMachineInstance) : undefined;
    const { folder: _, ...request } = patched?.status?.changedBlockTracking?.backupStatus ?? {};
    assert.deepEqual(request, { backupName: 'one', backupUID: 'b1', claimName: 'backups' });
  });

  for (const [name, seen, lines] of CASES)
    test(name, () => {
      const found = explain(decideVmBackup(seenWith(seen)));
      assert.deepEqual(
        found.map((line) => line.replace(/hp-volume-[0-9a-f]{10}/, 'hp-volume-b2ef0fc1f8')),
        lines,
      );
    });
});

function seenWith(seen: Partial<ObservedVmBackup>): ObservedVmBackup {
  const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { ...at, name: 'backups' }, spec: {} } as const;
  const launcher = launcherPod({ running: { startedAt: at.creationTimestamp } });
  const machine = {
    backup: backup(),
    trackers: [],
    vm: vm('Always'),
    vmi: instance(),
    launcher,
    claim,
    launcherImage: 'launcher',
    now,
  };
  return { ...machine, ...seen };
}
