import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DomainState } from '../vmi/domain.ts';
import type { CommandState } from '../vmi/domain-command.ts';
import { domain, now, running } from '../vmi/world.testing.ts';
import { actHindranceOf } from './act-hindrance.ts';
import { begun, moving, told } from './moves.testing.ts';

const back = { ...begun, failed: true, sourceNodeDomainReadyTimestamp: 'T' };
const send = { name: 'call-back', disks: [], runs: true, isKept: true } as const;
const sending: CommandState = { command: send, givenAt: now, tries: 1, is: 'running' };
const STATES: readonly DomainState[] = ['running', 'paused', 'prelaunch', 'switching', 'moved', 'incoming'];
const possible = (vmi: ReturnType<typeof running> | undefined, commands = {}) =>
  STATES.filter((state) => actHindranceOf({ vmi, domain: domain(state, { commands }) }) === undefined);

test('a guest like any other is paused, let go on and reset', () => {
  assert.deepEqual(possible(running()), ['running', 'paused', 'prelaunch']);
});

test('one that is moved is not, nor one that was handed over, is not back, or is not of this node', () => {
  for (const state of [told, begun, { ...begun, completed: true }, { ...begun, failed: true }])
    assert.deepEqual(possible(moving(state)), []);
  assert.deepEqual(possible(undefined), []);
});

test('nor one that QEMU sends or calls back, whatever is written', () => {
  assert.deepEqual([possible(running(), { x: sending }), possible(moving(back), { x: sending })], [[], []]);
});

test('one that was paused when it was sent in vain is let go on when it is back, and not when its memory was saved since', () => {
  assert.deepEqual(possible(moving(back)), ['running', 'paused', 'prelaunch', 'moved']);
  assert.deepEqual(possible(moving(back, { suspension: { phase: 'Saved' } })), []);
});
