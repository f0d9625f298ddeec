import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ExecQuestion } from '../../api/handler/questions.ts';
import { becomeAnother } from './become-another.ts';
import { IDENTITY_SCRIPT, reseedProgram } from './identity-script.ts';

const OLD = '02:00:00:00:00:01';
const NEW = '02:00:00:00:00:02';
const cards = [{ device: 'nic0', mac: NEW }];

function world(address: string, exitCode = 0) {
  const steps: string[] = [];
  const asked: ExecQuestion[] = [];
  const qmp = {
    execute: async (name: string, args?: object) => {
      steps.push(`${name} ${JSON.stringify(args ?? {})}`);
      return name === 'query-rx-filter' ? [{ 'main-mac': address }] : {};
    },
  };
  const runInGuest = async (question: ExecQuestion) => {
    steps.push('agent');
    asked.push(question);
    return { exitCode, stdout: '', stderr: Buffer.from('no ip here').toString('base64'), isTruncated: false };
  };
  return { qmp, runInGuest, steps, asked };
}

test('a guest has no link from before it runs until it is somebody else', async () => {
  const { steps, asked, ...performer } = world(OLD);
  await becomeAnother(performer, { hostname: 'web-2', cards });
  assert.deepEqual(
    steps.map((step) => step.replace(/"initial".*/, '')),
    [
      'set_link {"name":"nic0","up":false}',
      'cont {}',
      'query-rx-filter {"name":"nic0"}',
      'agent',
      'set_link {"name":"nic0","up":true}',
      'announce-self {',
    ],
  );
  const [, , , , hostname, machineId, ...addresses] = asked[0]?.command ?? [];
  assert.deepEqual([hostname, /^[0-9a-f]{32}$/.test(machineId ?? ''), addresses], ['web-2', true, [OLD, NEW]]);
  assert.equal(Buffer.from(asked[0]?.input ?? '', 'base64').length, 512);
});

test('what was done before a kill is not done again', async () => {
  const { asked, ...performer } = world(NEW);
  await becomeAnother(performer, { hostname: 'web-2', cards });
  assert.deepEqual(asked[0]?.command.slice(6), []);
});

test('a guest that cannot is told why, and has no link', async () => {
  const { steps, ...performer } = world(OLD, 1);
  await assert.rejects(becomeAnother(performer, { hostname: 'web-2', cards }), /its agent did not give it one: no ip here/);
  assert.equal(steps.at(-1), 'agent');
});

test('the script is one that a shell can read', () => {
  execFileSync('sh', ['-n', '-c', IDENTITY_SCRIPT]);
});

test('the program that seeds random numbers anew is one that this kernel runs', { skip: process.arch !== 'x64' }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'reseed-'));
  try {
    const file = join(folder, 'reseed');
    writeFileSync(file, reseedProgram());
    chmodSync(file, 0o700);
    const isAllowed = process.getuid?.() === 0;
    try {
      execFileSync(file);
      assert.ok(isAllowed, 'only root may');
    } catch (error) {
      // Refused, also to the root of a container, is an answer of the kernel: the program ran to its end.
      assert.equal((error as { status?: number }).status, 1, String(error));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
