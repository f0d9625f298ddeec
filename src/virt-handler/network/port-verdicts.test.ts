import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PortsAnswer } from './port-frames.ts';
import { afterLook, afterReset, isToBeOpen, lookAfterMs, noVerdicts } from './port-verdicts.ts';

const PORT = 80;
const taken: PortsAnswer = { isThere: true, takes: new Set([PORT]), refuses: new Set() };
const refused: PortsAnswer = { isThere: true, takes: new Set(), refuses: new Set([PORT]) };
const silent: PortsAnswer = { isThere: false, takes: new Set(), refuses: new Set() };
const filtered: PortsAnswer = { isThere: true, takes: new Set(), refuses: new Set() };

/** What is said of the port after these looks, a second apart. */
function after(...answers: PortsAnswer[]) {
  return answers.reduce((state, answer, at) => afterLook(state, { ports: [PORT], answer, nowMs: at * 1_000 }), noVerdicts(0));
}

for (const [fact, answers, isOpen] of [
  ['nobody knows before the first look', [], undefined],
  ['a guest that takes a connection has its port open at once', [taken], true],
  ['one refusal says nothing yet', [refused], undefined],
  ['two refusals close the port', [taken, refused, refused], false],
  ['a server that is restarted keeps its port', [taken, refused, taken], true],
  ['a guest that says nothing has its ports closed', [silent, silent, silent, silent, silent], false],
  ['one that says nothing for a moment keeps them: its host may be busy', [taken, silent, silent, silent, silent], true],
  ['a guest that reboots loses its port', [taken, silent, silent, silent, silent, silent], false],
  ['a port that is silent in a guest that is there is as it was', [refused, refused, filtered, filtered], false],
  ['and open at the third look: a firewall may let others in', [refused, refused, filtered, filtered, filtered], true],
  ['it comes back when the guest does', [taken, silent, silent, silent, silent, silent, taken], true],
] as const)
  test(fact, () => assert.equal(isToBeOpen(after(...answers), PORT), isOpen));

test('a guest that is reset has no port open, and those that it opens again at once', () => {
  const reset = afterReset(after(taken), 9_000);
  assert.deepEqual([isToBeOpen(reset, PORT), reset.changedAtMs], [false, 9_000]);
  assert.equal(isToBeOpen(afterLook(reset, { ports: [PORT], answer: taken, nowMs: 10_000 }), PORT), true);
});

test('ports that are no longer asked for are forgotten', () => {
  const other = afterLook(after(taken), { ports: [22], answer: taken, nowMs: 2_000 });
  assert.deepEqual([isToBeOpen(other, PORT), other.ports.size], [undefined, 1]);
});

test('looks are a second apart at first, further apart the longer nothing changes, and again one when something might', () => {
  const settled = after(refused, refused);
  const waits = (calmMs: number, guests = 1) => lookAfterMs(settled, { nowMs: settled.changedAtMs + calmMs, guests });
  assert.deepEqual(
    [0, 20_000, 60_000, 200_000, 3_600_000].map((calmMs) => waits(calmMs)),
    [1_000, 1_000, 3_000, 5_000, 5_000],
  );
  assert.deepEqual([waits(30_000, 200), waits(60_000, 200)], [4_000, 20_000], 'many guests wait longer');
  const doubted = afterLook(settled, { ports: [PORT], answer: filtered, nowMs: 70_000 });
  assert.equal(lookAfterMs(doubted, { nowMs: 100_000, guests: 1 }), 1_000);
});
