import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { reached, vm, vmi } from '../../testing/builders.ts';
import { dataVolume } from '../data-volume/data-volume.testing.ts';
import type { ObservedVm } from './observed.ts';
import { deriveVmStatus, type Next } from './status.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const at = '2026-01-01T00:00:00Z';
const deleting = { deletionTimestamp: at };
const isFalse = (type: string, reason: string) => ({ conditions: [{ type, status: 'False' as const, reason }] });
const ran = reached('Running');
const startRequest = { stateChangeRequests: [{ action: 'Start' as const }] };

const noVmi = { vm: vm('Always') };
const rerun = { runStrategy: 'RerunOnFailure' as const };
const failing = { startFailure: { consecutiveFailCount: 1, lastFailedVMIUID: 'vmi-1', retryAfterTimestamp: '2026-01-01T00:00:10Z' } };
const pull = (reason: string) => vmi('Scheduling', isFalse('Synchronized', reason));
const waiting = { unboundClaim: 'data' };
const filled = { dataVolumes: new Map([['root', dataVolume('Succeeded')]]) };
const filling = { dataVolumes: new Map([['root', dataVolume('ImportInProgress')]]) };
const failed = { dataVolumes: new Map([['root', dataVolume('ImportInProgress', 'Error')]]) };

/** Every printable status, in its order of precedence; WaitingForReceiver has no feature yet. */
const printable: [string, string, Omit<ObservedVm, 'now'>, Next?][] = [
  ['Terminating', 'while the VM is being deleted, over everything', { vm: vm('Always', {}, deleting), vmi: vmi('Running') }],
  ['Terminating', 'also without a VMI', { vm: vm('Always', {}, deleting) }],
  ['Stopping', 'while a live VMI goes', { vm: vm('Always'), vmi: vmi('Running', {}, deleting) }],
  ['Stopping', 'as soon as that is decided', { vm: vm('Halted'), vmi: vmi('Running') }, 'delete'],
  ['Stopping', 'over Starting: a VMI that goes before it ran', { vm: vm('Always'), vmi: vmi('Scheduling', {}, deleting) }],
  ['Paused', 'over Running', { vm: vm('Always'), vmi: vmi('Running', { conditions: [{ type: 'Paused', status: 'True' }] }) }],
  ['Running', 'with a VMI that runs, ready or not', { vm: vm('Always'), vmi: vmi('Running', isFalse('Ready', 'PodConditionMissing')) }],
  ['ErrorPvcNotFound', 'over Starting', { vm: vm('Always'), vmi: vmi('Pending', isFalse('Synchronized', 'FailedPvcNotFound')) }],
  [
    'ErrorPvcNotFound',
    'over ErrorUnschedulable',
    {
      vm: vm('Always'),
      vmi: vmi('Pending', {
        conditions: [...isFalse('PodScheduled', 'Unschedulable').conditions, ...isFalse('Synchronized', 'FailedPvcNotFound').conditions],
      }),
    },
  ],
  [
    'ErrorPvcNotFound',
    'over DataVolumeError',
    { vm: vm('Always'), vmi: vmi('Pending', isFalse('Synchronized', 'FailedPvcNotFound')), ...failed },
  ],
  ['DataVolumeError', 'over Provisioning and Stopped: its DataVolume cannot be filled', { vm: vm('Halted'), ...failed }],
  ['Running', 'over DataVolumeError', { vm: vm('Always'), vmi: vmi('Running'), ...failed }],
  ['ErrorUnschedulable', 'over Starting', { vm: vm('Always'), vmi: vmi('Scheduling', isFalse('PodScheduled', 'Unschedulable')) }],
  [
    'ErrorUnschedulable',
    'over WaitingForVolumeBinding',
    { vm: vm('Always'), vmi: vmi('Scheduling', isFalse('PodScheduled', 'Unschedulable')), ...waiting },
  ],
  ['Provisioning', 'over WaitingForVolumeBinding', { vm: vm('Always'), ...waiting, ...filling }],
  ['Provisioning', 'also of a Halted VM', { vm: vm('Halted'), ...filling }],
  ['Stopped', 'a DataVolume that is filled is no news', { vm: vm('Halted'), ...filled }],
  ['WaitingForVolumeBinding', 'over ErrImagePull', { vm: vm('Always'), vmi: pull('ErrImagePull'), ...waiting }],
  ['WaitingForVolumeBinding', 'before there is a VMI', { ...noVmi, ...waiting }, 'create'],
  ['WaitingForVolumeBinding', 'for a Manual VM that was started', { vm: vm('Manual'), vmi: vmi('Scheduling'), ...waiting }],
  ['WaitingForVolumeBinding', 'for a rerun', { vm: vm('RerunOnFailure', rerun), vmi: vmi('Pending'), ...waiting }],
  ['Stopped', 'a Halted VM waits for no volume', { vm: vm('Halted'), ...waiting }],
  ['Stopped', 'a Manual VM that nobody started waits for no volume', { vm: vm('Manual'), ...waiting }],
  ['Starting', 'a VM that runs Once and has its VMI is not set to start', { vm: vm('Once'), vmi: vmi('Pending'), ...waiting }],
  ['Running', 'over WaitingForVolumeBinding', { vm: vm('Always'), vmi: vmi('Running'), ...waiting }],
  ['ErrImagePull', 'over Starting', { vm: vm('Always'), vmi: pull('ErrImagePull') }],
  ['ImagePullBackOff', 'over Starting', { vm: vm('Always'), vmi: pull('ImagePullBackOff') }],
  ['Starting', 'as soon as a VMI is decided', noVmi, 'create'],
  ['Starting', 'without a phase', { vm: vm('Always'), vmi: vmi(undefined) }],
  ['Starting', 'with a Pending VMI', { vm: vm('Always'), vmi: vmi('Pending') }],
  ['Starting', 'with a Scheduling VMI', { vm: vm('Always'), vmi: vmi('Scheduling') }],
  ['Starting', 'with a Scheduled VMI', { vm: vm('Always'), vmi: vmi('Scheduled') }],
  [
    'Starting',
    'over CrashLoopBackOff: the next try is under way',
    { vm: vm('Always', failing), vmi: vmi('Pending', {}, { uid: 'vmi-2' }) },
  ],
  ['CrashLoopBackOff', 'Always, between two tries', { vm: vm('Always', failing) }],
  ['CrashLoopBackOff', 'Always, with the VMI that failed', { vm: vm('Always'), vmi: vmi('Failed') }],
  [
    'CrashLoopBackOff',
    'RerunOnFailure, with a start that is owed',
    { vm: vm('RerunOnFailure', { ...rerun, ...failing, ...startRequest }) },
  ],
  ['CrashLoopBackOff', 'Once, with the VMI that failed', { vm: vm('Once'), vmi: vmi('Failed') }],
  ['Starting', 'between an ended VMI and the next, never Stopped', { vm: vm('Always'), vmi: vmi('Succeeded', ran, deleting) }],
  ['Starting', 'after a crash that is rerun', { vm: vm('RerunOnFailure', rerun), vmi: vmi('Failed', ran) }],
  ['Stopped', 'a Halted VM without VMI', { vm: vm('Halted') }],
  ['Stopped', 'a Halted VM that had failed to start', { vm: vm('Halted', failing) }],
  ['Stopped', 'a Manual VM whose start failed: it is not tried again', { vm: vm('Manual'), vmi: vmi('Failed') }],
  ['Stopped', 'after a clean shutdown', { vm: vm('RerunOnFailure', rerun), vmi: vmi('Succeeded', ran) }],
  ['Stopped', 'a VM that ran Once, its VMI still there', { vm: vm('Once'), vmi: vmi('Succeeded', ran) }],
  ['Unknown', 'when the VMI says so', { vm: vm('Always'), vmi: vmi('Unknown') }],
  ['Unknown', 'over Running, when the node was silent for too long', { vm: vm('Always'), vmi: vmi('Running'), heartbeatAt: now - 301_000 }],
];

describe('deriveVmStatus', () => {
  for (const [status, why, observed, next = 'leave'] of printable) {
    test(`printable status ${status}: ${why}`, () => assert.equal(deriveVmStatus({ ...observed, now }, next).printableStatus, status));
  }

  test('mirrors the conditions of its VMI, with Ready also without one', () => {
    const ready = { type: 'Ready', status: 'True', lastTransitionTime: at } as const;
    const agent = { type: 'AgentConnected', status: 'True', lastProbeTime: null } as const;
    const before = { conditions: [{ type: 'PodScheduled', status: 'False' as const, reason: 'Unschedulable' }] };
    const status = deriveVmStatus({ vm: vm('Always', before), vmi: vmi('Running', { conditions: [ready, agent] }), now }, 'leave');
    assert.deepEqual([status.created, status.ready, status.conditions], [true, true, [{ type: 'AgentConnected', status: 'True' }, ready]]);
    const gone = deriveVmStatus({ vm: vm('Halted', status), now }, 'leave');
    assert.deepEqual(
      [gone.created, gone.ready, gone.conditions?.find(({ type }) => type === 'Ready')],
      [false, false, { type: 'Ready', status: 'False', reason: 'VMINotExists', message: 'There is no instance', lastTransitionTime: at }],
    );
  });

  const ends: [string, string, Omit<ObservedVm, 'now'>][] = [
    ['StartFailed', 'The instance ended before its guest ran (PodEnded)', { vm: vm('Always'), vmi: vmi('Failed', { reason: 'PodEnded' }) }],
    ['GuestShutdown', 'The guest powered itself off', { vm: vm('Manual'), vmi: vmi('Succeeded', ran) }],
    ['GuestPanicked', 'The guest failed (GuestPanicked)', { vm: vm('Always'), vmi: vmi('Failed', { ...ran, reason: 'GuestPanicked' }) }],
    ['Requested', 'A user stopped the virtual machine', { vm: vm('Halted'), vmi: vmi('Succeeded', ran, deleting) }],
    ['InstanceDeleted', 'A user deleted the instance', { vm: vm('Always'), vmi: vmi('Succeeded', ran, deleting) }],
    [
      'PodDeleted',
      'The Pod was deleted, or its node drained',
      { vm: vm('Always'), vmi: vmi('Succeeded', { ...ran, reason: 'PodDeleted' }) },
    ],
    ['Requested', 'The virtual machine is being deleted', { vm: vm('Always', {}, deleting), vmi: vmi('Succeeded', ran, deleting) }],
    [
      'GracePeriodExpired',
      'A user stopped the virtual machine; the guest did not power off in time and was cut off',
      { vm: vm('Halted'), vmi: vmi('Failed', { ...ran, reason: 'GracePeriodExpired' }, deleting) },
    ],
  ];
  for (const [reason, message, observed] of ends) {
    test(`LastShutdown: ${message}`, () => {
      const told = deriveVmStatus({ ...observed, now }, 'leave').conditions?.find(({ type }) => type === 'LastShutdown');
      assert.deepEqual(told, { type: 'LastShutdown', status: 'True', reason, message, lastTransitionTime: at });
    });
  }

  test('LastShutdown stays while the next instance runs', () => {
    const ended = deriveVmStatus({ vm: vm('Always'), vmi: vmi('Succeeded', ran), now }, 'delete');
    const next = deriveVmStatus({ vm: vm('Always', ended), vmi: vmi('Running', ran, { uid: 'vmi-2' }), now: now + 60_000 }, 'leave');
    assert.equal(next.conditions?.find(({ type }) => type === 'LastShutdown')?.lastTransitionTime, at);
  });

  test('a VM whose node was silent for more than five minutes is Unknown, and Running again with the next beat', () => {
    const seen = (ageMs: number) => deriveVmStatus({ vm: vm('Always'), vmi: vmi('Running'), heartbeatAt: now - ageMs, now }, 'leave');
    assert.deepEqual([seen(300_000).printableStatus, seen(301_000).printableStatus], ['Running', 'Unknown']);
  });

  for (const phase of ['Succeeded', 'Failed'] as const) {
    test(`a VM is not ready with a VMI that has ${phase} and does not say so yet`, () => {
      const ended = vmi(phase, { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: at }] });
      const { ready, conditions } = deriveVmStatus({ vm: vm('Always'), vmi: ended, now }, 'leave');
      const message = 'The guest is not running';
      assert.deepEqual(
        [ready, conditions?.find(({ type }) => type === 'Ready')],
        [false, { type: 'Ready', status: 'False', reason: 'GuestNotRunning', message, lastTransitionTime: at }],
      );
    });
  }

  test('a VMI that does not say is not ready', () => {
    const reasons = deriveVmStatus({ vm: vm('Always'), vmi: vmi('Pending'), now }, 'leave').conditions?.map(({ reason }) => reason);
    assert.deepEqual(reasons, ['VMIConditionMissing']);
  });

  test('a failed create is a Failure until the VM no longer wants a VMI', () => {
    const types = (strategy: 'Always' | 'Halted') =>
      deriveVmStatus({ vm: vm(strategy), createError: 'quota exceeded', now }, 'create').conditions?.map(({ type }) => type);
    assert.deepEqual([types('Always'), types('Halted')], [['Ready', 'Failure'], ['Ready']]);
  });

  test('a failed delete is a Failure for as long as the VMI is to go', () => {
    const reason = (next: Next) =>
      deriveVmStatus({ vm: vm('Halted'), vmi: vmi('Running', ran), deleteError: 'forbidden', now }, next).conditions?.find(
        ({ type }) => type === 'Failure',
      )?.reason;
    assert.deepEqual([reason('delete'), reason('leave')], ['FailedDelete', undefined]);
  });

  test('each early end is counted once, waits longer, and never above five minutes', () => {
    let failing = vm('Always');
    const waits: number[] = [];
    for (const uid of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) {
      for (const phase of ['Failed', 'Failed'] as const) {
        failing = vm('Always', deriveVmStatus({ vm: failing, vmi: vmi(phase, {}, { uid }), now }, 'delete'));
      }
      waits.push((Date.parse(failing.status?.startFailure?.retryAfterTimestamp ?? '') - now) / 1000);
    }
    assert.equal(failing.status?.startFailure?.consecutiveFailCount, 7);
    const bounds = [10, 40, 90, 160, 250, 300, 300];
    waits.forEach((seconds, i) => assert.ok(seconds >= bounds[i]! && seconds <= Math.min(300, bounds[i]! * 1.5), `${i}: ${seconds}`));
    assert.equal(deriveVmStatus({ vm: failing, vmi: vmi('Running', ran), now }, 'leave').startFailure, undefined);
  });

  test('says which generation runs and which is wanted', () => {
    const seen = {
      vm: vm('Always', {}, { generation: 4 }),
      vmi: vmi('Running', {}, { annotations: { 'kubevirt.io/vm-generation': '3' } }),
      now,
    };
    const { observedGeneration, desiredGeneration } = deriveVmStatus(seen, 'leave');
    assert.deepEqual([observedGeneration, desiredGeneration], [3, 4]);
  });

  test('one satisfied request leaves the list per look', () => {
    const requests = [{ action: 'Stop' as const, uid: 'vmi-0' }, { action: 'Start' as const }];
    const once = deriveVmStatus({ vm: vm('Manual', { stateChangeRequests: requests }), now }, 'leave').stateChangeRequests;
    const twice = deriveVmStatus(
      { vm: vm('Manual', { stateChangeRequests: once }), vmi: vmi('Pending'), now },
      'leave',
    ).stateChangeRequests;
    assert.deepEqual([once, twice], [[{ action: 'Start' }], undefined]);
  });

  test('RerunOnFailure is recorded only with its VMI, so that no start is lost', () => {
    const recorded = (seen: Omit<ObservedVm, 'now'>) => deriveVmStatus({ ...seen, now }, 'leave').runStrategy;
    assert.deepEqual(
      [
        recorded({ vm: vm('RerunOnFailure') }),
        recorded({ vm: vm('RerunOnFailure', { runStrategy: 'Halted' }) }),
        recorded({ vm: vm('RerunOnFailure', { runStrategy: 'Halted' }), vmi: vmi('Pending') }),
        recorded({ vm: vm('Halted', { runStrategy: 'RerunOnFailure' }) }),
      ],
      [undefined, 'Halted', 'RerunOnFailure', 'Halted'],
    );
  });
});
