import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BackupRequest } from '../../api/kubevirt/backup.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { launcherPod } from '../../testing/builders.ts';
import type { BackupOrder, CommandState } from '../vmi/domain-command.ts';
import type { ObservedDomain } from '../vmi/observed.ts';
import { deleted, domain, followed, now, running } from '../vmi/world.testing.ts';
import { backupStatus, decideBackup } from './decide-backup.ts';

const order: BackupOrder = {
  ...{ podUid: 'p1', folder: 'db/one-1', disks: [], checkpoint: 'one-1', base: undefined, kept: [], isQuiesced: false, runs: true },
};
const at = { command: { name: 'backup', order }, givenAt: now, tries: 1, endedAt: now } as const;
const by = (state: CommandState) => ({ commands: { 'backup b1': state } });
const making: CommandState = { ...at, is: 'running' };
const full: CommandState = { ...at, is: 'failed', reason: 'No space left on device' };
const made: CommandState = { ...at, is: 'done', result: { type: 'Full', bytes: 5, quiesceStatus: 'Succeeded' } };
const lied: CommandState = { ...at, is: 'done', result: {} };
const asked: BackupRequest = { backupName: 'one', backupUID: 'b1', claimName: 'backups', folder: 'db/one-1', checkpointName: 'one-1' };
const ready: BackupRequest = { ...asked, podUID: 'p1' };
const begun: BackupRequest = { ...ready, startTimestamp: '2026-01-01T00:00:00Z' };
const volumes = [{ name: 'root', persistentVolumeClaim: { claimName: 'root' } }];

function with_(backupStatus: BackupRequest, from = running()): VirtualMachineInstance {
  const devices = { ...from.spec.domain.devices, disks: [{ name: 'root', disk: { bus: 'virtio' as const } }] };
  return {
    ...from,
    spec: { ...from.spec, volumes, domain: { ...from.spec.domain, devices } },
    status: { ...from.status, changedBlockTracking: { state: 'Disabled', backupStatus } },
  };
}

const unwanted = with_({ ...begun, abort: true });
const ending = (givenAt: number) => {
  const end: CommandState = {
    command: { name: 'end-backup', podUid: 'p1', why: 'x' },
    givenAt,
    tries: 1,
    is: 'done',
    endedAt: givenAt,
    result: undefined,
  };
  return { commands: { 'backup b1': { ...making, givenAt: now - 60_000 }, 'end-backup': end } };
};
const clearing = (is: 'done' | 'failed', givenAt: number) => {
  const given = { command: { name: 'clear-backup', kept: [], runs: true }, givenAt, tries: 1, endedAt: givenAt } as const;
  const clear: CommandState = is === 'done' ? { ...given, is, result: undefined } : { ...given, is, reason: 'QMP timed out' };
  return { commands: { 'clear backup b1': clear } };
};

const CASES: readonly [string, Partial<ObservedDomain>, change: Partial<BackupRequest> | undefined, actions: string[]][] = [
  ['a Pod that is not there yet is waited for', { vmi: with_(asked) }, undefined, []],
  ['the write comes first, then the backup', { vmi: with_(ready) }, { startTimestamp: '2026-01-01T00:00:00Z' }, ['backup b1']],
  ['a guest that is paused can be backed up', { vmi: with_(ready), domain: domain('paused') }, {}, ['backup b1']],
  ['one that nobody can be asked about is waited for', { vmi: with_(ready), domain: domain('unresponsive') }, undefined, []],
  [
    'one that nobody wants is not begun',
    { vmi: with_({ ...ready, abort: true }) },
    { failed: true, backupMsg: 'nobody wants the backup any more' },
    [],
  ],
  [
    'one of a guest that is to stop is not begun',
    { vmi: with_(ready, deleted(30)) },
    { failed: true, backupMsg: 'the instance is being stopped' },
    [],
  ],
  ['a backup is waited for', { vmi: with_(begun), domain: domain('running', by(making)) }, undefined, []],
  ['a guest that is to stop ends it', { vmi: with_(begun, deleted(30)), domain: domain('running', by(making)) }, undefined, ['end-backup']],
  ['so does its deletion', { vmi: with_({ ...begun, abort: true }), domain: domain('running', by(making)) }, undefined, ['end-backup']],
  [
    'an end that came too early is given again',
    { vmi: unwanted, domain: domain('running', ending(now - 5_000)) },
    undefined,
    ['end-backup'],
  ],
  ['not at once', { vmi: unwanted, domain: domain('running', ending(now - 4_000)) }, undefined, []],
  ['a guest that is moved is not backed up', { vmi: with_(ready, running({ migrationState: { migrationUid: 'm1' } })) }, undefined, []],
  ['nor one whose memory is saved', { vmi: with_(ready, running({ suspension: { phase: 'Saving' } })) }, undefined, []],
  ['what a virt-handler has left that was killed is taken out of QEMU first', { vmi: with_(begun) }, undefined, ['clear backup b1']],
  ['as soon as QEMU can be asked', { vmi: with_(begun), domain: domain('connecting', { isConnected: false }) }, undefined, []],
  [
    'again when that failed',
    { vmi: with_(begun), domain: domain('running', clearing('failed', now - 5_000)) },
    undefined,
    ['clear backup b1'],
  ],
  ['not at once', { vmi: with_(begun), domain: domain('running', clearing('failed', now)) }, undefined, []],
  [
    'then it has backed up nothing',
    { vmi: with_(begun), domain: domain('running', clearing('done', now)) },
    { failed: true, backupMsg: 'virt-handler was restarted while the disks were backed up' },
    [],
  ],
  [
    'with QEMU goes what was left in it',
    { vmi: with_(begun), domain: domain('running', { isGone: true, isConnected: false, ...by(full) }) },
    { failed: true, backupMsg: 'No space left on device' },
    [],
  ],
  ['a full PVC is cleared of', { vmi: with_(begun), domain: domain('running', by(full)) }, undefined, ['clear backup b1']],
  [
    'and told',
    { vmi: with_(begun), domain: domain('running', { commands: { ...by(full).commands, ...clearing('done', now).commands } }) },
    { failed: true, backupMsg: 'No space left on device' },
    [],
  ],
  [
    'an answer that is none is not believed',
    { vmi: with_(begun), domain: domain('running', { commands: { ...by(lied).commands, ...clearing('done', now).commands } }) },
    { failed: true, backupMsg: 'nobody said what was backed up' },
    [],
  ],
  [
    'what is on the PVC is told',
    { vmi: with_(begun), domain: domain('running', by(made)) },
    { completed: true, type: 'Full', bytes: 5, quiesceStatus: 'Succeeded' },
    [],
  ],
  ['what is over is left alone', { vmi: with_({ ...begun, failed: true }), domain: domain('running', by(full)) }, undefined, []],
];

function seen(more: Partial<ObservedDomain>): ObservedDomain {
  const pod = launcherPod({ running: { startedAt: '2026-01-01T00:00:00Z' } });
  return { followed, pod, domain: domain('running'), vmi: with_(begun), now, ...more };
}

describe('a backup of the disks', () => {
  for (const [name, more, change, ids] of CASES)
    test(name, () => {
      const observed = seen(more);
      const after = backupStatus(observed).changedBlockTracking?.backupStatus;
      const actions = decideBackup(observed).actions.map((action) => (action.do === 'command' ? action.id : action.do));
      assert.deepEqual([after !== undefined, actions], [change !== undefined, ids]);
      for (const [field, value] of Object.entries(change ?? {})) assert.deepEqual(after?.[field as keyof BackupRequest], value, field);
    });

  test('a machine without a disk on a PVC has nothing to back up', () => {
    const vmi = running({ changedBlockTracking: { state: 'Disabled', backupStatus: ready } });
    assert.match(backupStatus(seen({ vmi })).changedBlockTracking?.backupStatus?.backupMsg ?? '', /none of the disks/);
  });

  test('QEMU is told which disks, and the agent is asked when it is there and nobody said not to', () => {
    const orderOf = (more: Partial<ObservedDomain>) => {
      const [action] = decideBackup(seen(more)).actions;
      return action?.do === 'command' && action.command.name === 'backup' ? action.command.order : undefined;
    };
    const agent = { state: 'connected' } as const;
    const { disks, isQuiesced, runs } = orderOf({ vmi: with_(ready), agent }) ?? {};
    assert.deepEqual([disks, isQuiesced, runs], [[{ volume: 'root', device: 'disk0', node: 'image0' }], true, true]);
    assert.equal(orderOf({ vmi: with_({ ...ready, skipQuiesce: true }), agent })?.isQuiesced, false);
    assert.deepEqual(orderOf({ vmi: with_(ready), agent, domain: domain('paused') })?.runs, false);
  });

  test('a full one in the place of an incremental one says why, and changed blocks are remembered from then on', () => {
    const vmi = with_({ ...begun, baseCheckpoint: 'zero-0' });
    const after = backupStatus(seen({ vmi, domain: domain('running', by(made)) })).changedBlockTracking;
    assert.equal(after?.state, 'Enabled');
    assert.match(after?.backupStatus?.backupMsg ?? '', /a full one: QEMU does not know checkpoint zero-0/);
  });

  test('to clear QEMU of a backup lets no guest run that stands still to be moved', () => {
    const runs = (more: Partial<ObservedDomain>) => {
      const [action] = decideBackup(seen(more)).actions;
      return action?.do === 'command' && action.command.name === 'clear-backup' ? action.command.runs : undefined;
    };
    const moving = with_(begun, running({ migrationState: { migrationUid: 'm1', startTimestamp: '2026-01-01T00:00:00Z' } }));
    assert.deepEqual([runs({}), runs({ vmi: moving, domain: domain('paused') })], [true, false]);
  });
});
