import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { findByVariable, identify, identifyChild, isSameProcess, signalProcess } from './process-identity.ts';

test('a process is itself until it ends, and its pid alone proves nothing', async () => {
  const child = spawn('sleep', ['60'], {
    stdio: 'ignore',
    detached: true,
    env: { ...process.env, PROCESS_IDENTITY_TEST: `${process.pid}` },
  });
  const identity = identify(child.pid!);
  assert.ok(identity);
  const ended = once(child, 'exit');
  try {
    assert.equal(isSameProcess(identity), true);
    assert.equal(isSameProcess({ ...identity, startTime: '1' }), false, 'another process with this pid');
    assert.equal(isSameProcess({ ...identity, bootId: 'earlier' }), false, 'an earlier boot');
    assert.deepEqual(
      findByVariable('PROCESS_IDENTITY_TEST', (value) => value === `${process.pid}`),
      [identity],
    );
    assert.deepEqual(
      findByVariable('PROCESS_IDENTITY_TEST', (value) => value === 'other'),
      [],
    );
    assert.equal(signalProcess({ ...identity, startTime: '1' }, 'SIGKILL'), false);
  } finally {
    assert.equal(signalProcess(identity, 'SIGKILL', 'group'), true);
  }
  assert.deepEqual(await ended, [null, 'SIGKILL']);
  assert.equal(isSameProcess(identity), false);
  assert.equal(signalProcess(identity, 'SIGKILL'), false);
});

test('a child that ended before anybody looked still has an identity', async () => {
  const child = spawn('true', { stdio: 'ignore' });
  const identity = identifyChild(child.pid!);
  assert.equal(identity?.pid, child.pid);
  await once(child, 'exit');
});
