import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { explain } from '../../reconcile/decision.ts';
import { decideDomain } from '../vmi/decide.ts';
import type { CommandState } from '../vmi/domain-command.ts';
import type { ObservedDomain } from '../vmi/observed.ts';
import { domain, followed, gone, lost, now } from '../vmi/world.testing.ts';
import { begun, moving, ready, targetPod, told } from './moves.testing.ts';

const PATCH = 'patch VirtualMachineInstance default/db';
const command = { name: 'receive', disks: [] } as const;
const done: CommandState = { command, givenAt: now, tries: 1, is: 'done', endedAt: now, result: undefined };
const failed: CommandState = { command, givenAt: now, tries: 1, is: 'failed', endedAt: now, reason: 'no room' };
const door = { host: '10.0.0.2', port: 8186 };
const completed = { ...begun, completed: true };

const cases: [string, Partial<ObservedDomain>, string[]][] = [
  [
    'its QEMU is listened to',
    { vmi: moving(told), followed: undefined },
    ['follow pod-2: its launcher Pod is on this node', 'look again in 0s'],
  ],
  ['a QEMU that does not answer yet is waited for', { vmi: moving(told), domain: domain('absent', lost) }, []],
  ['a QEMU that waits is made ready', { vmi: moving(told) }, ['command receive: a guest is to come']],
  [
    'what could not be made ready has failed',
    { vmi: moving(told), domain: domain('incoming', { commands: { receive: failed } }) },
    [`${PATCH}: the target could not be made ready: no room`],
  ],
  [
    'where it is ready is told',
    { vmi: moving(told), door, domain: domain('incoming', { commands: { receive: done } }) },
    [`${PATCH}: QEMU waits for the guest`],
  ],
  ['once', { vmi: moving(ready), domain: domain('incoming', { commands: { receive: done } }) }, []],
  ['a QEMU that ended is told', { vmi: moving(begun), domain: domain('incoming', gone) }, [`${PATCH}: QEMU of the target has ended`]],
  [
    'so is a Pod that was gone before anybody listened to its QEMU',
    { vmi: moving(told), pod: undefined, followed: undefined, isPodGone: true },
    [`${PATCH}: the Pod that it was to come to is gone`],
  ],
  [
    'a guest that is there, stopped, is not let run before it is handed over',
    { vmi: moving(begun), domain: domain('paused', { commands: { receive: done } }) },
    [],
  ],
  [
    'a QEMU whose guest does not come is ended',
    { vmi: moving({ ...begun, failed: true }) },
    ['command quit: the guest does not come', 'look again in 5s'],
  ],
  ['one that was handed over is left until its label says so', { vmi: moving(completed), domain: domain('paused') }, []],
];

describe('the node that a guest is to come to', () => {
  const usual = { pod: targetPod, followed: { ...followed, podUid: 'pod-2' }, isComing: true, domain: domain('incoming'), now };
  for (const [name, seen, expected] of cases)
    test(name, () => assert.deepEqual(explain(decideDomain({ ...usual, ...(seen as { vmi: VirtualMachineInstance }) })), expected));
});

describe('a guest that was handed over', () => {
  const here = { pod: targetPod, followed: { ...followed, podUid: 'pod-2' }, now };
  const arrive = (runs: boolean, is: 'running' | 'done'): CommandState => {
    const given = { command: { name: 'arrive', runs }, givenAt: now, tries: 1 } as const;
    return is === 'running' ? { ...given, is } : { ...given, is, endedAt: now, result: undefined };
  };
  const explained = (vmi: VirtualMachineInstance, seen: ObservedDomain['domain']) => explain(decideDomain({ ...here, vmi, domain: seen }));
  const paused = moving(completed, { conditions: [{ type: 'Paused', status: 'True', reason: 'PausedByUser' }] });

  test('goes on here', () => {
    assert.deepEqual(explained(moving(completed), domain('paused')), ['command arrive: the guest was handed over to this node']);
  });
  test('stands still if it did before', () => {
    const [action] = decideDomain({ ...here, vmi: paused, domain: domain('paused') }).actions;
    assert.deepEqual(action?.do === 'command' && action.command, { name: 'arrive', runs: false });
  });
  test('is let go on once at a time', () => {
    const running = domain('paused', { commands: { arrive: arrive(true, 'running') } });
    assert.deepEqual(explained(moving(completed), running), ['look again in 2s']);
  });
  test('is told to be there when it goes on, and what time it is', () => {
    for (const seen of [domain('running'), domain('paused', { commands: { arrive: arrive(true, 'done') } })])
      assert.deepEqual(explained(moving(completed), seen), ['set clock: the guest is here', `${PATCH}: the guest is here`]);
  });
  test('is not told the time while it is paused', () => {
    const seen = domain('paused', { commands: { arrive: arrive(false, 'done') } });
    assert.deepEqual(explained(paused, seen), [`${PATCH}: the guest is here`]);
  });
});
