import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { LABEL_NODE_NAME } from '../../api/kubevirt/names.ts';
import { explain } from '../../reconcile/decision.ts';
import { decideDomain } from '../vmi/decide.ts';
import type { Domain } from '../vmi/domain.ts';
import type { CommandState } from '../vmi/domain-command.ts';
import type { ObservedDomain } from '../vmi/observed.ts';
import { deleted, domain, followed, lost, now } from '../vmi/world.testing.ts';
import { begun, moving, ready, sourcePod, told } from './moves.testing.ts';
import { sendLimitsOf } from './send-limits.ts';

const PATCH = 'patch VirtualMachineInstance default/db';
const BEGIN = 'node n2 is ready to take the guest';
const to = { host: '10.0.0.2', port: 8186, migrationUid: 'm1' };
const SEND = { name: 'send', disks: [], to, limits: sendLimitsOf(moving(ready), ready), runs: true } as const;
const CALL_BACK = { name: 'call-back', disks: [], runs: true, isKept: false } as const;
const OVER = 'the move is over, and the guest was not handed over';
const at = { givenAt: now, tries: 1, endedAt: now };
const sending: CommandState = { command: SEND, ...at, is: 'running' };
const progress = { stage: 'Memory', bytesDone: 3, bytesLeft: 1, bytesPerSecond: 1, isStandingStill: true } as const;
const further: CommandState = { command: SEND, ...at, is: 'running', progress };
const earlier = { ...begun, startTimestamp: new Date(now - 2_000).toISOString() };
const all = { stage: 'Memory', bytesDone: 4, bytesLeft: 0, bytesPerSecond: 1 } as const;
const sent: CommandState = { command: SEND, ...at, is: 'done', result: all };
const notSent: CommandState = { command: SEND, ...at, is: 'failed', reason: 'broken pipe' };
const calledBack: CommandState = { command: CALL_BACK, ...at, is: 'done', result: undefined };
const by = (state: CommandState, more: Domain['commands'] = {}) => ({ commands: { 'send m1': state, ...more } });
/** With what QEMU said then; undefined while it has not. */
const broughtBack = (result: string | undefined): Partial<Domain> => {
  const command = { ...CALL_BACK, isKept: true };
  return { commands: { 'bring back m1': result ? { command, ...at, is: 'done', result } : { command, ...at, is: 'running' } } };
};
const back = { ...begun, failed: true, sourceNodeDomainReadyTimestamp: '2026-01-01T00:00:00Z' };
const aborted = { abortRequested: true, abortStatus: 'Aborting' } as const;

const cases: [string, Partial<ObservedDomain>, string[]][] = [
  ['a target that is not ready is waited for', { vmi: moving(told) }, []],
  ['a guest whose target is ready is sent', { vmi: moving(ready) }, [`${PATCH}: ${BEGIN}`, `command send m1: ${BEGIN}`]],
  [
    'so is one that is paused',
    { vmi: moving(ready, paused()), domain: domain('paused') },
    [`${PATCH}: ${BEGIN}`, `command send m1: ${BEGIN}`],
  ],
  ['a QEMU that does not answer is not told to send', { vmi: moving(ready), domain: domain('running', lost) }, []],
  ['a move that nobody wants is not begun', { vmi: moving({ ...ready, ...aborted }) }, [`${PATCH}: the migration was cancelled`]],
  ['a guest that is being sent is waited for', { vmi: moving(begun), domain: domain('running', by(sending)) }, []],
  ['one that stands still for that is not paused', { vmi: moving(begun), domain: domain('paused', by(sending)) }, []],
  ['how far it is is not told at once', { vmi: moving(begun), domain: domain('running', by(further)) }, []],
  [
    'how far it is is told after two seconds',
    { vmi: moving(earlier), domain: domain('running', by(further)) },
    [`${PATCH}: the copy is further than it was`],
  ],
  ['and not while it stands still at the end', { vmi: moving(earlier), domain: domain('switching', by(further)) }, []],
  [
    'a cancelled one is called back',
    { vmi: moving({ ...begun, ...aborted }), domain: domain('running', by(sending)) },
    ['command call back m1: the migration was cancelled', 'look again in 5s'],
  ],
  ['one that could not be sent stays', { vmi: moving(begun), domain: domain('running', by(notSent)) }, [`${PATCH}: broken pipe`]],
  ['one that was sent is handed over', { vmi: moving(begun), domain: domain('moved', by(sent)) }, [`${PATCH}: the guest is on node n2`]],
  ['one that QEMU has not let go of yet is not', { vmi: moving(begun), domain: domain('switching', by(sent)) }, ['look again in 1s']],
  ['nor one that runs as far as was heard', { vmi: moving(begun), domain: domain('running', by(sent)) }, ['look again in 1s']],
  [
    'one that surely runs here stays, whatever was sent',
    { vmi: moving(begun), domain: domain('running', by(sent)), now: now + 10_000 },
    [`${PATCH}: the guest runs on its node, though it was sent`],
  ],
  [
    'one that is reset while it stands still for the copy is called back',
    { vmi: moving(begun), domain: domain('prelaunch', by(sending)) },
    ['command call back m1: the guest was reset while it was sent', 'look again in 5s'],
  ],
  [
    'one that is reset after it was sent stays',
    { vmi: moving(begun), domain: domain('prelaunch', by(sent)) },
    [`${PATCH}: the guest was reset while it was handed over`],
  ],
  [
    'and runs when that is written',
    { vmi: moving({ ...begun, failed: true }), domain: domain('prelaunch', by(sent)) },
    [`command bring back m1: ${OVER}`, 'look again in 5s'],
  ],
  [
    'one that was reset while it was paused, before a move, is let run as always',
    { vmi: moving(told), domain: domain('prelaunch') },
    ['command cont: nobody asked the guest to wait', 'look again in 5s'],
  ],
  [
    'a guest that is backed up is not sent',
    { vmi: moving(ready, { changedBlockTracking: { state: 'Disabled', backupStatus: { backupUID: 'b1', claimName: 'c' } } }) },
    [`${PATCH}: the disks of the guest are being backed up`],
  ],
  [
    'what another virt-handler began is called back',
    { vmi: moving(begun), domain: domain('switching') },
    ['command call back m1: virt-handler was restarted', 'look again in 5s'],
  ],
  [
    'and has then failed, even if it was sent',
    { vmi: moving(begun), domain: domain('moved', { commands: { 'call back m1': calledBack } }) },
    [`${PATCH}: virt-handler was restarted while the guest was sent`],
  ],
  [
    'a guest that was sent in vain is brought back, after that is written',
    { vmi: moving({ ...begun, failed: true }), domain: domain('moved', by(sent)) },
    [`command bring back m1: ${OVER}`, 'look again in 5s'],
  ],
  [
    'so is one that stands still for a move that a virt-handler before this one began',
    { vmi: moving({ ...begun, failed: true }), domain: domain('paused') },
    [`command bring back m1: ${OVER}`, 'look again in 5s'],
  ],
  [
    'again, when QEMU says that it stands still yet',
    { vmi: moving({ ...begun, failed: true }), domain: domain('paused', broughtBack('paused')), now: now + 5_000 },
    [`command bring back m1: ${OVER}`, 'look again in 5s'],
  ],
  ['once at a time', { vmi: moving({ ...begun, failed: true }), domain: domain('moved', broughtBack(undefined)) }, ['look again in 5s']],
  [
    'when it is back is written',
    { vmi: moving({ ...begun, failed: true }), domain: domain('running', broughtBack('running')) },
    [`${PATCH}: the guest is back`],
  ],
  [
    'what was seen of it before QEMU was asked is no proof',
    { vmi: moving({ ...begun, failed: true }), domain: domain('running', by(sent)) },
    [`command bring back m1: ${OVER}`, 'look again in 5s'],
  ],
  [
    'somebody else’s failure calls a guest back that is being sent',
    { vmi: moving({ ...begun, failed: true }), domain: domain('running', by(sending)) },
    ['command call back m1: the move is over', 'look again in 5s'],
  ],
  [
    'one that is back stays paused when somebody pauses it after that',
    { vmi: moving(back), domain: domain('paused') },
    [`${PATCH}: what QEMU shows has changed`],
  ],
  ['a move of the past is nothing', { vmi: moving(back), domain: domain('running') }, []],
  [
    'a guest that is deleted after a move that failed is asked to power off like any other',
    { vmi: deleted(30, moving(back)), stoppingSince: now },
    ['record event ShuttingDown: The guest was asked to power off.', 'command system_powerdown: VMI is being deleted', 'look again in 5s'],
  ],
  [
    'and is not waited for longer than others when it does not come back',
    { vmi: deleted(30, moving({ ...begun, failed: true })), domain: domain('moved'), stoppingSince: now, now: now + 31_000 },
    [`${PATCH}: the guest did not power off within 30 s`],
  ],
  [
    'one that stands still for a move before this one is brought back before it is sent',
    { vmi: moving(ready), domain: domain('moved') },
    ['command bring back m1: it stands still for a move before this one', 'look again in 5s'],
  ],
  [
    'and before anybody lets this one fail',
    { vmi: moving({ ...ready, ...aborted }), domain: domain('paused') },
    ['command bring back m1: it stands still for a move before this one', 'look again in 5s'],
  ],
  [
    'one that is still being sent for a move before this one is called back',
    { vmi: moving(ready), domain: domain('running', { commands: { 'send m0': sending } }) },
    ['command call back m1: the move before this one is over', 'look again in 5s'],
  ],
  [
    'one that somebody has paused a moment ago is said to be before it is sent',
    { vmi: moving(ready), domain: domain('paused', { commands: { pause: { command: { name: 'stop' }, ...at, is: 'done', result: {} } } }) },
    [`${PATCH}: what QEMU shows has changed`],
  ],
  [
    'one that was paused while it was sent in vain has to run before it can be sent',
    { vmi: moving(ready, paused()), domain: domain('moved') },
    [`${PATCH}: the guest is paused, and was sent before in vain: unpause it first`],
  ],
];

describe('the node that a guest is to leave', () => {
  const usual = { pod: sourcePod, followed, domain: domain('running'), now };
  for (const [name, seen, expected] of cases)
    test(name, () => {
      const decision = decideDomain({ ...usual, ...(seen as { vmi: VirtualMachineInstance }) });
      assert.deepEqual(explain(decision), expected);
    });

  test('the hand-over is one write on condition, with the node, its label and what was sent', () => {
    const [action] = decideDomain({ ...usual, vmi: moving(begun), domain: domain('moved', by(sent)) }).actions;
    assert.ok(action?.do === 'patch');
    assert.equal(action.resourceVersion, '1');
    const [endTimestamp, lastUpdate] = Array(2).fill('2026-01-01T00:00:00Z');
    const migrationState = { completed: true, endTimestamp, progress: { ...all, lastUpdate } };
    assert.deepEqual(action.patch, { status: { migrationState, nodeName: 'n2' }, metadata: { labels: { [LABEL_NODE_NAME]: 'n2' } } });
  });

  test('a guest that stands still for the rest of its memory is said to', () => {
    const [action] = decideDomain({ ...usual, vmi: moving(earlier), domain: domain('running', by(further)) }).actions;
    assert.ok(action?.do === 'patch');
    const { isStandingStill: _, ...shown } = progress;
    const migrationState = { mode: 'Paused', progress: { ...shown, lastUpdate: '2026-01-01T00:00:00Z' } };
    assert.deepEqual([action.patch, action.event], [{ status: { migrationState } }, undefined]);
  });

  test('so is one that runs although its guest was moved; one of which nobody knows that is only forgotten', () => {
    const left = { ...usual, vmi: moving(begun), hasLeft: true, domain: domain('running') };
    assert.deepEqual(explain(decideDomain({ ...left, hasMoved: true })), [
      'command quit: its guest was moved to another node',
      'look again in 5s',
    ]);
    assert.deepEqual(explain(decideDomain(left)), ['forget: VMI is not on this node any more', 'look again in 0s']);
  });

  test('the QEMU that a guest has left is ended, and then forgotten', () => {
    const left = { ...usual, vmi: moving(begun), hasLeft: true };
    assert.deepEqual(explain(decideDomain({ ...left, domain: domain('moved') })), [
      'command quit: its guest was moved to another node',
      'look again in 5s',
    ]);
    assert.deepEqual(explain(decideDomain({ ...left, domain: domain('moved', { isGone: true, isConnected: false }) })), [
      'forget: VMI is not on this node any more',
      'look again in 0s',
    ]);
  });
});

function paused() {
  return {
    conditions: [{ type: 'Paused', status: 'True' as const, reason: 'PausedByUser', message: 'The processors of the guest are stopped.' }],
  };
}
