import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vm, vmi } from '../../testing/builders.ts';
import { decideEntry, type ObservedEntry, PROMPT_PATIENCE_MS } from './decide.ts';

const yes = (type: 'AgentConnected' | 'Paused') => ({ conditions: [{ type, status: 'True' as const }] });
const seen = (more: Partial<ObservedEntry>) =>
  decideEntry({ name: 'db', wants: 'login', vmi: vmi('Running'), ssh: { is: 'unknown' }, ...more });
const closed = { is: 'closed', why: 'nothing listens at its port 22' } as const;
const out = { is: 'out', why: 'there is no ssh on this machine' } as const;

test('a machine that does not run is waited for, with what starts it', () => {
  assert.deepEqual(seen({ vmi: undefined, vm: vm('Halted', { printableStatus: 'Stopped' }) }), {
    waitFor: 'db is Stopped',
    help: 'virtctl start db starts it',
  });
  assert.deepEqual(seen({ vmi: vmi('Scheduling'), vm: vm('Always', { printableStatus: 'Starting' }) }), {
    waitFor: 'db is Starting',
    help: 'virtctl why db says what it waits for',
  });
  assert.deepEqual(seen({ vmi: vmi('Running', yes('Paused')), ssh: { is: 'open' } }), {
    waitFor: 'db is paused',
    help: 'virtctl unpause db resumes it',
  });
});

test('a program goes by the agent, else by ssh', () => {
  const wants = 'program';
  assert.deepEqual(seen({ wants, vmi: vmi('Running', yes('AgentConnected')), ssh: { is: 'open' } }), { enter: 'agent' });
  assert.deepEqual(seen({ wants, ssh: { is: 'open' } }), { enter: 'ssh' });
  assert.deepEqual(seen({ wants }), { waitFor: 'db runs, its guest agent is not connected' });
  for (const ssh of [closed, out])
    assert.deepEqual(seen({ wants, ssh }), { waitFor: `db runs, its guest agent is not connected, and ${ssh.why}` });
});

test('a login goes by ssh, and by the console where ssh cannot', () => {
  assert.deepEqual(seen({ ssh: { is: 'open' } }), { enter: 'ssh' });
  assert.deepEqual(seen({ ssh: out }), { enter: 'console', because: out.why });
  assert.deepEqual(seen({ ssh: closed, promptForMs: PROMPT_PATIENCE_MS }), { enter: 'console', because: closed.why });
});

test('a login waits for an ssh server that may still come', () => {
  const waits = { waitFor: `db runs, but ${closed.why}`, help: 'virtctl console db shows how far it is' };
  assert.deepEqual([seen({ ssh: closed }), seen({ ssh: closed, promptForMs: PROMPT_PATIENCE_MS - 1 })], [waits, waits]);
  assert.deepEqual(seen({}), { waitFor: 'db runs: asking for its ssh server' });
});
