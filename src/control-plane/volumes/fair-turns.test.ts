import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairTurns } from './fair-turns.ts';

const never = new AbortController().signal;

/** Two turns, and work that says when it began and ends when it is told. */
function work() {
  const turns = new FairTurns(2);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = (owner: string, name: string, signal = never) =>
    turns.run(owner, signal, () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise(setImmediate);
  };
  return { begun, ask, end };
}

test('no more than so much is under way, owners take turns, and one owner keeps its order', async () => {
  const { begun, ask, end } = work();
  const all = [ask('a', 'a1'), ask('a', 'a2'), ask('a', 'a3'), ask('a', 'a4'), ask('b', 'b1'), ask('b', 'b2')];
  await new Promise(setImmediate);
  assert.deepEqual(begun, ['a1', 'a2']);
  for (const name of ['a1', 'a2', 'a3', 'b1', 'a4', 'b2']) await end(name);
  assert.deepEqual(begun, ['a1', 'a2', 'a3', 'b1', 'a4', 'b2']);
  await Promise.all(all);
});

test('who no longer wants a turn leaves, and work that fails passes its turn on', async () => {
  const { begun, ask, end } = work();
  const unwanted = new AbortController();
  void ask('a', 'a1');
  void ask('a', 'a2');
  const left = ask('a', 'a3', unwanted.signal);
  const last = ask('a', 'a4');
  unwanted.abort(new Error('unwanted'));
  await assert.rejects(left, /unwanted/);
  await end('a1');
  assert.deepEqual(begun, ['a1', 'a2', 'a4']);
  await end('a4');
  await last;
  const turns = new FairTurns(1);
  await assert.rejects(
    turns.run('a', never, () => Promise.reject(new Error('failed'))),
    /failed/,
  );
  assert.equal(await turns.run('a', never, async () => 'next'), 'next');
});
