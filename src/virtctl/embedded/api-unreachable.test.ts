import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { identifyChild, isStopped } from '../../base/node/process-identity.ts';
import { until } from '../../testing/until.ts';
import { apiUnreachable } from './api-unreachable.ts';

test('a process that was stopped is told from one that does not answer', async (t) => {
  const child = spawn('sleep', ['1000']);
  await once(child, 'spawn');
  t.after(() => child.kill('SIGKILL'));
  const { pid = 0 } = child;
  const identity = identifyChild(pid)!; // it sleeps
  const told = () => {
    const { code, why, fix } = apiUnreachable(identity, { next: 'virtctl up', cause: new Error('the host does not answer') });
    return [code, why, fix];
  };
  assert.deepEqual(told(), [
    'API_UNREACHABLE',
    'the host does not answer',
    `kill ${pid}, then virtctl up: guests are not touched by the first`,
  ]);
  child.kill('SIGSTOP');
  await until(() => isStopped(identity), 'the stop');
  assert.deepEqual(told(), [
    'API_UNREACHABLE',
    'somebody has stopped the process (SIGSTOP, or Ctrl+Z)',
    `kill -CONT ${pid}; or kill -9 ${pid}, then virtctl up: guests are not touched`,
  ]);
});
