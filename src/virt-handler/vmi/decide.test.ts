import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { Condition, ObjectMeta } from '../../api/meta.ts';
import { mergePatch } from '../../base/json.ts';
import { timestamp } from '../../base/timestamp.ts';
import { explain } from '../../reconcile/decision.ts';
import { launcherPod, tinySpec, vmi } from '../../testing/builders.ts';
import type { AgentFacts } from '../agent/agent-session.ts';
import { decideDomain } from './decide.ts';
import type { Domain } from './domain.ts';
import type { DomainDecision } from './domain-action.ts';
import type { CommandState } from './domain-command.ts';
import type { ObservedDomain } from './observed.ts';
import {
  asked,
  deleted,
  deleting,
  domain,
  endedPod,
  final,
  followed,
  gone,
  livePod,
  lost,
  now,
  running,
  scheduled,
  World,
} from './world.testing.ts';

const PATCH = 'patch VirtualMachineInstance default/db';
const DELETE_POD = 'delete Pod default/virt-launcher-db-8tfgs';
const SHOWN = `${PATCH}: what QEMU shows has changed`;
const IS_RUNNING = [`${PATCH}: the guest is running`, 'Normal Created', 'Normal Started'];
const ASK_AGAIN = ['command system_powerdown: VMI is being deleted', 'look again in 5s'];
const CUT_OFF = [`${PATCH}: the guest did not power off within 30 s`, 'Normal Deleted'];
const POWERED_OFF = [`${PATCH}: the guest powered off`, 'Normal Stopped'];
const startPaused = { ...scheduled(), spec: { ...tinySpec, startStrategy: 'Paused' as const } };

const finalPod = { ...livePod(), status: { phase: 'Failed' as const } };

/** What is seen, unless a case says otherwise: a VMI that has been running for a while, and its Pod. */
const usual = { vmi: running(), pod: livePod(), followed, domain: domain('running'), now };

const unready: Condition = { type: 'GuestReady', status: 'False', reason: 'ProbeFailed', message: 'no' };

type Case = [string, Partial<ObservedDomain>, string[]];

const FOLLOW = ['follow pod-1: its launcher Pod is on this node', 'look again in 0s'];
const other = { ...followed, vmi: { ...followed.vmi, metadata: { ...followed.vmi.metadata, uid: 'vmi-0' } } };

const following: Case[] = [
  ['a guest is listened to as soon as its Pod is here', { vmi: vmi('Scheduling'), followed: undefined }, FOLLOW],
  ['a handler that comes back listens before it judges', { ...deleting(31_000), followed: undefined }, FOLLOW],
  ['another instance of the same name is another guest', { followed: other }, FOLLOW],
  ['so is one in another Pod', { followed: { ...followed, podUid: 'pod-0' } }, FOLLOW],
  [
    'a guest of the past is forgotten though the next one has no Pod yet',
    { vmi: vmi('Pending'), pod: undefined, followed: other },
    ['forget: it is another guest of this name', 'look again in 0s'],
  ],
  ['a Pod that was removed by force does not make it another guest', { pod: undefined, domain: domain('shutdown') }, POWERED_OFF],
  ['nobody listens to a Pod that has ended', { vmi: final('Failed'), pod: finalPod, followed: undefined }, []],
  ['a VMI that left is forgotten', { hasLeft: true }, ['forget: VMI is not on this node any more', 'look again in 0s']],
];

const starting: Case[] = [
  ['phases before Scheduled are virt-controller’s', { vmi: vmi('Scheduling') }, []],
  ['a guest that runs makes its VMI Running', { vmi: scheduled() }, IS_RUNNING],
  ['a guest that powered off unseen was Running first', { vmi: scheduled(), domain: domain('shutdown') }, IS_RUNNING],
  ['a guest that is to start paused is Running', { vmi: startPaused, domain: domain('prelaunch') }, IS_RUNNING],
  [
    'a guest that waits unasked is let run',
    { vmi: scheduled(), domain: domain('prelaunch') },
    ['command cont: nobody asked the guest to wait', 'look again in 5s'],
  ],
  ['QEMU that has not come yet is waited for', { vmi: scheduled(), domain: domain('absent', lost) }, ['look again in 180s']],
  [
    'QEMU that never comes fails its VMI',
    { vmi: scheduled(), domain: domain('absent', lost), now: now + 180_000 },
    [`${PATCH}: QEMU has not answered within 180 s`, 'Warning Stopped', `${DELETE_POD}: QEMU has not answered within 180 s`],
  ],
  [
    'a launcher that fails takes its VMI along',
    { vmi: scheduled(), pod: endedPod(1), domain: domain('absent', lost) },
    [`${PATCH}: QEMU ended with exit code 1 (Error): no disk`, 'Warning Stopped'],
  ],
];

const living: Case[] = [
  ['nothing is written for a guest that just runs', {}, []],
  ['a lost connection alone changes nothing', { domain: domain('running', lost) }, []],
  ['a handler that has just come back changes nothing', { domain: domain('connecting', lost) }, []],
  ['a pause is shown', { domain: domain('paused') }, [SHOWN]],
  ['a disk error is told', { domain: domain('io-error') }, [SHOWN, 'Warning IOerror']],
  ['a QEMU that does not answer is shown', { domain: domain('unresponsive') }, [SHOWN]],
];

const probed: Case[] = [
  ['a guest that is ready is shown', { probes: { readiness: { isYes: true } } }, [SHOWN]],
  ['a guest that is not ready is shown and told', { probes: { readiness: { isYes: false, why: 'no' } } }, [SHOWN, 'Warning Unhealthy']],
  ['once', { vmi: running({ conditions: [unready] }), probes: { readiness: { isYes: false, why: 'no' } } }, []],
  [
    'and again when it says something else',
    { vmi: running({ conditions: [unready] }), probes: { readiness: { isYes: false, why: 'still no' } } },
    [SHOWN],
  ],
  [
    'a guest that is not alive is ended',
    { probes: { liveness: { isYes: false, why: 'no answer in time' } } },
    [`${PATCH}: its liveness probe failed: no answer in time`, 'Warning Unhealthy', 'Warning Stopped'],
  ],
  [
    'a guest that shuts down need not be alive',
    { ...deleting(2000, asked(now)), probes: { liveness: { isYes: false, why: 'no' } } },
    ['look again in 3s'],
  ],
];

const ending: Case[] = [
  ['a guest that powers off has succeeded', { domain: domain('shutdown') }, POWERED_OFF],
  ['that it powered off is remembered when QEMU is gone', { domain: domain('shutdown', gone), pod: undefined }, POWERED_OFF],
  ['a panic is a failure', { domain: domain('panicked') }, [`${PATCH}: the guest panicked`, 'Warning GuestPanicked', 'Warning Stopped']],
  ['a QEMU that was killed is a crash', { domain: domain('running', gone) }, [`${PATCH}: QEMU is gone`, 'Warning Stopped']],
  [
    'a QEMU that was ended by a signal says so',
    { domain: domain('running', { ...gone, shutdownReason: 'host-signal' }) },
    [`${PATCH}: QEMU was ended from outside (host-signal)`, 'Warning Stopped'],
  ],
  [
    'a container that was killed is a crash',
    { pod: endedPod(137), domain: domain('running', lost) },
    [`${PATCH}: QEMU ended with exit code 137 (Error): no disk`, 'Warning Stopped'],
  ],
  ['a Pod that was removed by force is a crash', { pod: undefined }, [`${PATCH}: the launcher Pod is gone`, 'Warning Stopped']],
];

const isPaused: Condition = { type: 'Paused', status: 'True', reason: 'PausedByUser', message: 'The processors of the guest are stopped.' };
const WAKE = ['command cont: VMI is being deleted, and a guest that is paused cannot power off', 'look again in 5s'];
const CLEAR_BACKUP = 'command clear backup b1: its backup has failed';
const beingBackedUp = {
  changedBlockTracking: { state: 'Disabled', backupStatus: { backupUID: 'b1', claimName: 'c', startTimestamp: '2026-01-01T00:00:00Z' } },
} as const;

/** Paused by its user, and deleted. */
function pausedAnd(status: Partial<VmiStatus>, more: Partial<Domain> = {}, afterMs = 0): Partial<ObservedDomain> {
  const seen = deleting(afterMs);
  return { ...seen, vmi: deleted(30, running({ conditions: [isPaused], ...status })), domain: domain('paused', more) };
}

function conted(at: number): Domain['commands'] {
  return { cont: { command: { name: 'cont' }, givenAt: at, tries: 1, is: 'done', endedAt: at, result: {} } };
}

const stopping: Case[] = [
  [
    'the grace period begins when the deletion is seen',
    { ...deleting(0), stoppingSince: undefined },
    ['start grace period: VMI is being deleted', 'look again in 0s'],
  ],
  ['deletion asks the guest to power off', deleting(0), ['Normal ShuttingDown', ...ASK_AGAIN]],
  [
    'so does deletion of its Pod, whose stamp is the end of its grace period',
    {
      pod: { ...livePod(), metadata: podMeta({ deletionTimestamp: timestamp(now + 45_000), deletionGracePeriodSeconds: 45 }) },
      stoppingSince: now,
    },
    ['Normal ShuttingDown', 'command system_powerdown: launcher Pod is being deleted', 'look again in 5s'],
  ],
  ['a guest that its user has paused is let run first: paused it could not power off', pausedAnd({}), WAKE],
  ['it is not let run again at once', pausedAnd({}, { commands: conted(now) }, 2000), ['look again in 3s']],
  ['and is asked when it runs', deleting(100, { commands: conted(now) }), ['Normal ShuttingDown', ...ASK_AGAIN]],
  ['one that was paused after it was asked is let run, too', pausedAnd({}, asked(now), 1000), WAKE],
  ['one that is moved is left to the move', pausedAnd({ migrationState: { migrationUid: 'm1' } }), ['Normal ShuttingDown', ...ASK_AGAIN]],
  ['one that is frozen stays as it is', pausedAnd({ fsFreezeStatus: 'frozen' }), ['Normal ShuttingDown', ...ASK_AGAIN]],
  [
    'one whose disks are backed up is let run when that has ended',
    pausedAnd(beingBackedUp),
    ['Normal ShuttingDown', CLEAR_BACKUP, ...ASK_AGAIN],
  ],
  ['it is not asked again at once', deleting(2000, asked(now)), ['look again in 3s']],
  ['it is asked again after five seconds', deleting(5000, asked(now)), ASK_AGAIN],
  ['the end of the grace period is not overslept', deleting(28_000, asked(now + 25_000)), ['look again in 2s']],
  ['a guest that obeys has succeeded', { ...deleting(3000), domain: domain('shutdown') }, POWERED_OFF],
  ['a guest that does not obey is cut off', deleting(30_000), CUT_OFF],
  [
    'a QEMU that does not answer is cut off with its Pod',
    { ...deleting(30_000), domain: domain('unresponsive') },
    [...CUT_OFF, `${DELETE_POD}: the guest did not power off within 30 s`],
  ],
  ['a handler that comes back late keeps to the time of deletion', { ...deleting(31_000), stoppingSince: now + 30_500 }, CUT_OFF],
  ['grace period 0 is no failure', { ...deleting(0), vmi: deleted(0) }, [`${PATCH}: deletion without a grace period`, 'Normal Deleted']],
  [
    'grace period 0, QEMU already gone',
    { ...deleting(0), vmi: deleted(0), domain: domain('running', gone) },
    [`${PATCH}: deletion without a grace period`, 'Normal Deleted'],
  ],
  [
    'a guest that crashes while it stops has failed',
    { ...deleting(3000), domain: domain('running', gone) },
    [`${PATCH}: QEMU is gone`, 'Warning Stopped'],
  ],
  [
    'a guest that has not run yet is not waited for',
    { ...deleting(0), vmi: deleted(30, scheduled()), domain: domain('absent', lost) },
    [`${PATCH}: deletion before the guest ran`, 'Normal Deleted'],
  ],
];

function quitWas(state: Partial<CommandState>): Partial<Domain> {
  const quit = { command: { name: 'quit' }, givenAt: now, tries: 1, ...state } as CommandState; // each case gives the rest
  return { commands: { quit } };
}

const clearing: Case[] = [
  [
    'a command that runs is not given again',
    { vmi: final('Succeeded'), domain: domain('shutdown', quitWas({ is: 'running' })), now: now + 6_000 },
    ['look again in 5s'],
  ],
  [
    'a command that failed is not given again at once',
    { vmi: final('Succeeded'), domain: domain('shutdown', quitWas({ is: 'failed', endedAt: now, reason: 'no' })), now: now + 1_000 },
    ['look again in 5s'],
  ],
  [
    'a command that failed is given again after five seconds',
    { vmi: final('Succeeded'), domain: domain('shutdown', quitWas({ is: 'failed', endedAt: now, reason: 'no' })), now: now + 5_000 },
    ['command quit: VMI is Succeeded', 'look again in 5s'],
  ],
  [
    'QEMU is ended when the end of the guest is written',
    { vmi: final('Succeeded'), domain: domain('shutdown') },
    ['command quit: VMI is Succeeded', 'look again in 5s'],
  ],
  ['a VMI that somebody else failed loses its QEMU too', { vmi: final('Failed') }, ['command quit: VMI is Failed', 'look again in 5s']],
  ['a final VMI without QEMU needs nothing', { vmi: final('Failed'), domain: domain('running', gone) }, []],
  ['a QEMU that does not answer is given time', { vmi: final('Failed'), domain: domain('unresponsive') }, ['look again in 5s']],
  [
    'and then goes with its Pod',
    { vmi: final('Failed'), domain: domain('unresponsive'), now: now + 30_000 },
    [`${DELETE_POD}: VMI is Failed and QEMU does not go`],
  ],
  [
    'sooner when its guest was cut off',
    { vmi: final('Failed', 'GracePeriodExpired'), now: now + 3_000 },
    [`${DELETE_POD}: VMI is Failed and QEMU does not go`, 'command quit: VMI is Failed'],
  ],
];

describe('decideDomain', () => {
  for (const [name, seen, expected] of [...following, ...starting, ...living, ...probed, ...ending, ...stopping, ...clearing]) {
    test(name, () => assert.deepEqual(told(decideDomain({ ...usual, ...seen })), expected));
  }

  test('Running is written with its time and the address of the guest', () => {
    const seen = { ...usual, vmi: scheduled(), domain: domain('running', { macs: ['52:54:00:12:34:56'] }), now: now + 1500 };
    assert.deepEqual(patchOf(decideDomain(seen)), {
      status: {
        phase: 'Running',
        phaseTransitionTimestamps: [
          { phase: 'Scheduled', phaseTransitionTimestamp: '2026-01-01T00:00:00Z' },
          { phase: 'Running', phaseTransitionTimestamp: '2026-01-01T00:00:01Z' },
        ],
        conditions: ['LiveMigratable', 'StorageLiveMigratable'].map((type) => ({
          type,
          status: 'True',
          lastTransitionTime: '2026-01-01T00:00:01Z',
        })),
        migrationMethod: 'BlockMigration',
        migrationTransport: 'Unix',
        interfaces: [
          { name: 'default', mac: '52:54:00:12:34:56', ipAddress: '10.244.0.5', ipAddresses: ['10.244.0.5'], infoSource: 'domain' },
        ],
      },
    });
  });

  test('a guest that has the controller of hotplugged disks stays on its node until it is restarted', () => {
    const devices = { 'scsi-hotplug': { bus: 'hotplug0' } };
    const seen = { ...usual, vmi: scheduled(), domain: domain('running', { plugged: { devices, nodes: [], ports: [] } }) };
    const { status } = patchOf(decideDomain(seen)) as { status: { conditions: { reason?: string; message?: string }[] } };
    assert.equal(status.conditions[0]?.reason, 'DisksNotLiveMigratable');
    assert.match(status.conditions[0]?.message ?? '', /^cannot migrate VMI: .* controller of disks .*; restart it first$/);
  });

  test('the write that says Running says whether the Pod is ready, too, so that nobody has to write that again', () => {
    const said = { type: 'Ready', status: 'False', reason: 'ContainersNotReady', message: 'not yet' } as const;
    const pod = { ...usual.pod, status: { ...usual.pod?.status, conditions: [said] } } as typeof usual.pod;
    const patch = patchOf(decideDomain({ ...usual, pod, vmi: scheduled() })) as { status: { conditions: object[] } };
    assert.deepEqual(patch.status.conditions[0], { ...said, lastTransitionTime: '2026-01-01T00:00:00Z' });
  });

  test('Paused is there only while the guest is paused', () => {
    const ready = { type: 'Ready', status: 'True' as const };
    const paused = { type: 'Paused', status: 'True', reason: 'PausedByUser', message: 'The processors of the guest are stopped.' } as const;
    const seen = { ...usual, vmi: running({ conditions: [ready, paused] }) };
    assert.deepEqual(decideDomain({ ...seen, domain: domain('paused') }).actions, []);
    assert.deepEqual(patchOf(decideDomain(seen)), { status: { conditions: [ready] } });
  });
});

describe('the agent in a guest', () => {
  const connected: AgentFacts = {
    state: 'connected',
    missing: [],
    isFrozen: true,
    os: { id: 'debian' },
    nics: [
      { interfaceName: 'eth0', mac: '52:54:00:12:34:56', ipAddresses: ['10.0.2.2'] },
      { interfaceName: 'docker0', mac: '02:42:00:00:00:01', ipAddresses: ['172.17.0.1'] },
    ],
  };
  const seen = { ...usual, domain: domain('running', { macs: ['52:54:00:12:34:56'] }), agent: connected };
  const shown = mergePatch(running(), patchOf(decideDomain(seen))) as typeof usual.vmi;

  test('is shown with what it says; the address of the Pod stays the one to reach the guest at', () => {
    const { conditions, guestOSInfo, fsFreezeStatus, interfaces } = shown.status ?? {};
    assert.deepEqual(
      [conditions, guestOSInfo, fsFreezeStatus, interfaces],
      [
        [{ type: 'AgentConnected', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
        { id: 'debian' },
        'frozen',
        [
          {
            ...{ name: 'default', mac: '52:54:00:12:34:56', ipAddress: '10.244.0.5', ipAddresses: ['10.244.0.5'] },
            ...{ interfaceName: 'eth0', infoSource: 'domain, guest-agent' },
          },
          {
            ...{ mac: '02:42:00:00:00:01', interfaceName: 'docker0', ipAddress: '172.17.0.1', ipAddresses: ['172.17.0.1'] },
            infoSource: 'guest-agent',
          },
        ],
      ],
    );
  });

  test('is written once', () => {
    assert.deepEqual(decideDomain({ ...seen, vmi: shown }).actions, []);
  });

  test('is not forgotten by a handler that has just come back', () => {
    for (const agent of [undefined, { state: 'unknown' } as const])
      assert.deepEqual(decideDomain({ ...seen, vmi: shown, agent }).actions, []);
  });

  test('is gone when its port is closed', () => {
    const after = mergePatch(shown, patchOf(decideDomain({ ...seen, vmi: shown, agent: { state: 'absent' } }))) as typeof usual.vmi;
    const { conditions, guestOSInfo, fsFreezeStatus, interfaces } = after.status ?? {};
    assert.deepEqual([conditions, guestOSInfo, fsFreezeStatus, interfaces?.length], [[], undefined, undefined, 1]);
  });

  test('that lacks commands is said to', () => {
    const patch = patchOf(decideDomain({ ...seen, agent: { ...connected, missing: ['guest-info'] } }));
    const { conditions } = (mergePatch(running(), patch) as typeof usual.vmi).status ?? {};
    assert.deepEqual(
      conditions?.map(({ type, reason }) => [type, reason]),
      [
        ['AgentConnected', undefined],
        ['AgentVersionNotSupported', 'MissingCommands'],
      ],
    );
  });
});

describe('a guest, run until nothing changes', () => {
  test('starts, and is left alone', () => {
    const world = new World({ vmi: scheduled(), domain: domain('prelaunch') });
    world.settle();
    assert.deepEqual(
      [world.phases, world.events],
      [
        ['Scheduled', 'Running'],
        ['Normal Created', 'Normal Started'],
      ],
    );
  });

  test('powers off, is reported and cleared away', () => {
    const world = new World({ vmi: scheduled(), domain: domain('shutdown') });
    world.settle();
    assert.deepEqual(
      [world.phases, world.events, world.domain.isGone],
      [['Scheduled', 'Running', 'Succeeded'], ['Normal Created', 'Normal Started', 'Normal Stopped'], true],
    );
  });

  test('is deleted and obeys at the second request', () => {
    const world = new World({ vmi: deleted(30), domain: domain('running'), obeysAfter: 2 });
    world.settle();
    assert.deepEqual(
      [world.phases, world.events, world.now - now, world.domain.isGone],
      [['Running', 'Succeeded'], ['Normal ShuttingDown', 'Normal Stopped'], 5_000, true],
    );
  });

  test('is deleted while it is paused, runs on and obeys', () => {
    const world = new World({ vmi: deleted(30), domain: domain('paused'), obeysAfter: 1 });
    world.settle();
    assert.deepEqual(
      [world.phases, world.events],
      [
        ['Running', 'Succeeded'],
        ['Normal ShuttingDown', 'Normal Stopped'],
      ],
    );
  });

  for (const state of ['running', 'unresponsive'] as const) {
    test(`is deleted while ${state} and does not obey`, () => {
      const world = new World({ vmi: deleted(12), domain: domain(state) });
      world.settle();
      assert.deepEqual([world.phases, world.now - now, world.domain.isGone], [['Running', 'Failed'], 12_000, true]);
    });
  }
});

/** What follows, in order; an event that belongs to a write comes after it, one that stands alone is its own line. */
function told(decision: DomainDecision): string[] {
  const rendered = explain(decision);
  const actions = decision.actions.flatMap((action, index) => {
    const event = action.event ? [`${action.event.type} ${action.event.reason}`] : [];
    return action.do === 'record' ? event : [rendered[index] ?? '', ...event];
  });
  return [...actions, ...rendered.slice(decision.actions.length)];
}

function patchOf(decision: DomainDecision): object | undefined {
  const [action] = decision.actions;
  return action?.do === 'patch' ? action.patch : undefined;
}

function podMeta(more: Partial<ObjectMeta>): ObjectMeta {
  return { ...launcherPod({}).metadata, ...more };
}
