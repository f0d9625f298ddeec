import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openPodUsers, PodUsers } from './pod-users.ts';

const RANGE = { first: 1000, count: 2000 };

test('a machine has the same user in its next Pod, another one has another', () => {
  const users = new PodUsers(RANGE, 'key');
  const first = users.take('pod-1', 'machine a');
  users.release('pod-1');
  assert.equal(users.take('pod-2', 'machine a'), first);
  assert.notEqual(users.take('pod-3', 'machine b'), first);
});

test('of two that live at once, none has the user of the other, however few there are', () => {
  const users = new PodUsers({ first: 10, count: 6 }, 'key');
  const taken = ['a', 'b', 'c'].map((name) => users.take(`pod-${name}`, name));
  assert.deepEqual(taken.toSorted(), [10, 11, 12]);
  assert.throws(() => users.take('pod-d', 'd'), /all users for Pods are in use/);
  users.release('pod-b');
  assert.equal(users.take('pod-d', 'd'), taken[1]);
});

test('a machine that has moved to another number keeps it while one of its Pods lives', () => {
  const users = new PodUsers({ first: 10, count: 4 }, 'key');
  const a = users.take('pod-a', 'a');
  const b = users.take('pod-b', 'b');
  users.release('pod-a');
  assert.deepEqual([users.take('pod-b', 'b'), users.take('pod-c', 'c')], [b, a]);
});

test('what an earlier kubelet gave is not given again', () => {
  const before = new PodUsers(RANGE, 'key').take('pod-1', 'a');
  const users = new PodUsers(RANGE, 'key');
  users.keep('pod-2', { uid: before, gid: before, groups: [], of: 'b' });
  assert.equal(users.take('pod-1', 'a'), before + 1);
});

test('groups of claims are apart from users', () => {
  const users = new PodUsers(RANGE, 'key');
  const groups = Array.from({ length: 500 }, (_, index) => users.groupOf(`claim ${index}`));
  assert.ok(groups.every((gid) => gid >= 2000 && gid < 3000));
  const numbers = Array.from({ length: 500 }, (_, index) => users.take(`pod ${index}`, `machine ${index}`));
  assert.ok(numbers.every((uid) => uid >= 1000 && uid < 2000));
});

test('the key is kept in a file of its owner’s, differs between data folders, and is made again when it is damaged', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'pod-users-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const range = { first: 0, count: 2 ** 40 };
  const at = (name: string) => openPodUsers(join(dir, name), range).take('pod', 'machine');
  assert.equal(at('one'), at('one'));
  assert.notEqual(at('one'), at('two'));
  assert.equal(statSync(join(dir, 'one')).mode & 0o777, 0o600);
  writeFileSync(join(dir, 'one'), '{');
  assert.equal(at('one'), at('one'));
});
