import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../testing/fake-clock.ts';
import { quiet, until } from '../../testing/until.ts';
import { Commands } from './commands.ts';
import type { CommandProgress, CommandStates } from './domain-command.ts';

const reset = { name: 'system_reset' } as const;
const quarter: CommandProgress = { stage: 'Memory', bytesDone: 1, bytesLeft: 3, bytesPerSecond: 1, isStandingStill: false };

/** A guest whose answers a test gives by hand. */
function guest() {
  const clock = new FakeClock();
  const began = clock.now();
  const asked: { answer: (result: unknown) => void; refuse: (error: Error) => void; report: (progress: CommandProgress) => void }[] = [];
  const shown: CommandStates[] = [];
  const commands = new Commands({
    clock,
    run: (_, report) => {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      asked.push({ answer: resolve, refuse: reject, report });
      return promise;
    },
    onChange: (states) => shown.push(states),
  });
  return { clock, began, asked, shown, commands, last: () => shown.at(-1)?.['r'] };
}

test('a command that takes long tells how far it is, and then what came of it', async () => {
  const { clock, began, asked, shown, commands } = guest();
  const answer = commands.give('r', reset);
  await until(() => asked.length === 1);
  clock.advance(1_000);
  asked[0]?.report(quarter);
  clock.advance(1_000);
  asked[0]?.answer({ bytes: 4 });
  assert.deepEqual(await answer, { bytes: 4 });
  asked[0]?.report({ ...quarter, bytesDone: 2 }); // too late to be of interest
  const given = { command: reset, givenAt: began, tries: 1 };
  assert.deepEqual(
    shown.map(({ r }) => r),
    [
      { ...given, is: 'running' },
      { ...given, is: 'running', progress: quarter },
      { ...given, is: 'done', endedAt: began + 2_000, result: { bytes: 4 } },
    ],
  );
});

test('a command that fails says why, to who looks and to who waits', async () => {
  const { began, asked, commands, last } = guest();
  const answer = commands.give('r', reset);
  await until(() => asked.length === 1);
  asked[0]?.refuse(new Error('no room'));
  await assert.rejects(answer, /no room/);
  assert.deepEqual(last(), { command: reset, givenAt: began, tries: 1, is: 'failed', endedAt: began, reason: 'no room' });
});

test('a command that is given again while it runs is one command', async () => {
  const { asked, commands, last } = guest();
  const answers = [commands.give('r', reset), commands.give('r', reset)];
  await until(() => asked.length === 1);
  await quiet();
  asked[0]?.answer('once');
  assert.deepEqual([await Promise.all(answers), asked.length, last()?.tries], [['once', 'once'], 1, 1]);
});

test('a command that has ended is given anew, and what is known of it is of the last time', async () => {
  const { clock, began, asked, commands, last } = guest();
  const first = commands.give('r', reset);
  await until(() => asked.length === 1);
  asked[0]?.refuse(new Error('busy'));
  await assert.rejects(first);
  clock.advance(5_000);
  void commands.give('r', reset);
  await until(() => asked.length === 2);
  assert.deepEqual(last(), { command: reset, givenAt: began + 5_000, tries: 2, is: 'running' });
});

test('commands under other ids run beside it', async () => {
  const { asked, commands, shown } = guest();
  void commands.give('r', reset);
  void commands.give('s', reset);
  await until(() => asked.length === 2);
  asked[1]?.answer(undefined);
  await until(() => shown.at(-1)?.['s']?.is === 'done');
  assert.equal(shown.at(-1)?.['r']?.is, 'running');
});

test('of many that have ended the oldest are forgotten, and none that runs', async () => {
  const { asked, commands, shown } = guest();
  void commands.give('runs', reset);
  for (let count = 1; count <= 40; count++) {
    void commands.give(`id-${count}`, reset);
    await until(() => asked.length === count + 1);
    asked[count]?.answer(undefined);
    await until(() => shown.at(-1)?.[`id-${count}`]?.is === 'done');
  }
  const ids = Object.keys(shown.at(-1) ?? {});
  assert.deepEqual([ids.length, ids[0], ids[1], ids.at(-1)], [17, 'runs', 'id-25', 'id-40']);
});
