import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vmi } from '../../testing/builders.ts';
import { onlyRunning, parseShellWords } from './choose-machine.ts';

test('what stands behind the separator is the command', () => {
  assert.deepEqual(parseShellWords(['db', '--', 'echo', '--', 'x']), { name: 'db', command: ['echo', '--', 'x'] });
  assert.deepEqual(parseShellWords(['vm', 'db']), { name: 'db' });
  assert.deepEqual(parseShellWords(['vmi/db']), { name: 'db' });
  assert.deepEqual(parseShellWords(['--', 'id']), { command: ['id'] });
  assert.deepEqual(parseShellWords([]), {});
});

test('a command without a separator is told how to be written', () => {
  assert.throws(() => parseShellWords(['db', 'uname', 'x']), { code: 'USAGE', fix: 'virtctl shell db -- uname x', exitCode: 2 });
  assert.throws(() => parseShellWords(['db', '--']), { code: 'USAGE', exitCode: 2 });
});

const named = (name: string, phase: 'Running' | 'Scheduling' | 'Succeeded' = 'Running') => vmi(phase, {}, { name });

test('without a name it is the only machine that runs or will', () => {
  assert.equal(onlyRunning([named('old', 'Succeeded'), named('db')], 'test'), 'db');
  assert.equal(onlyRunning([named('db', 'Scheduling')], 'test'), 'db');
});

test('none, or several, are a question', () => {
  assert.throws(() => onlyRunning([named('old', 'Succeeded')], 'test'), { code: 'NO_MACHINE', exitCode: 3 });
  assert.throws(() => onlyRunning([named('b'), named('a')], 'test'), { code: 'USAGE', why: 'a, b', fix: 'virtctl shell a', exitCode: 2 });
  const many = Array.from({ length: 11 }, (_, index) => named(`m${index}`));
  assert.throws(() => onlyRunning(many, 'test'), { why: /^m0, m1, m10, .* and others$/ });
});
