import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Begun, takeBegun } from './begun.ts';

test('an answer that was asked for early is taken once', async (t) => {
  const scope = globalThis as { begun?: Begun };
  t.after(() => delete scope.begun);
  scope.begun = new Map([['http://page/list', Promise.resolve(new Response('first'))]]);
  const [taken, again] = [takeBegun('http://page/list'), takeBegun('http://page/list')];
  assert.deepEqual([await (await taken)?.text(), again], ['first', undefined]);
});

test('a page whose first script did not run asks for itself', () => {
  assert.equal(takeBegun('http://page/list'), undefined);
});
