import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex, Readable } from 'node:stream';
import { after, test } from 'node:test';
import type { VirtualMachineInstance } from '../../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { systemClock } from '../../../base/clock.ts';
import { vm, vmi } from '../../../testing/builders.ts';
import { until } from '../../../testing/until.ts';
import { type Answers, status, testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const BASE = '/apis/kubevirt.io/v1/namespaces/default';
const [MADE, GONE] = [`POST ${BASE}/virtualmachines`, `DELETE ${BASE}/virtualmachines/db`];
/** Whether it is still there. */
const SEEN = `GET ${BASE}/virtualmachines/db`;
const INSTANCE = `GET ${BASE}/virtualmachineinstances/db`;
const WATCH = `GET ${BASE}/virtualmachineinstances?fieldSelector=metadata.name%3Ddb&watch=true&allowWatchBookmarks=true`;
const EXEC = 'PUT /apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/db/exec';
const UNATTENDED = { rm: true, agentTimeout: 60, timeout: 600, stdin: false };
const FLAGS = { ...UNATTENDED, name: 'db', ephemeral: false, detach: false, dryRun: false, output: 'yaml' } as const;
const CONNECTED = vmi('Running', { conditions: [{ type: 'AgentConnected', status: 'True' }] });
const RESULT = { exitCode: 3, stdout: Buffer.from('out\n').toString('base64'), stderr: '', isTruncated: false };

const home = mkdtempSync(join(tmpdir(), 'throw-away-'));
after(() => rmSync(home, { recursive: true }));

const lastOf = (requests: readonly (readonly [string, unknown])[]) => requests.slice(-2).map(([request]) => request);

/** A server on which the instance is seen like this, one after the other; then nothing more is heard of it. */
function world(seen: readonly VirtualMachineInstance[], more: Answers = {}) {
  const lines = seen.map((object) => `${JSON.stringify({ type: 'MODIFIED', object })}\n`).join('');
  const watch = () =>
    new Response(
      new ReadableStream({
        start: (controller) => controller.enqueue(Buffer.from(lines || '\n')),
      }),
    );
  return testDeps({ [MADE]: vm('Always'), [GONE]: {}, [WATCH]: watch, [EXEC]: RESULT, ...more }, { home });
}

test('the command runs as soon as the agent answers; its output and exit code are ours, and the machine is gone', async () => {
  const { deps, requests, stdout } = world([vmi('Scheduling'), vmi('Running'), CONNECTED]);
  assert.equal(await run(deps, FLAGS, 'agent', '--', 'sh', '-c', 'exit 3'), 3);
  assert.equal(stdout(), 'out\n');
  assert.deepEqual(
    requests.map(([request]) => request),
    [MADE, WATCH, EXEC, GONE, SEEN],
  );
  const made = requests[0]?.[1] as ReturnType<typeof vm>;
  const { volumes = [], terminationGracePeriodSeconds } = made.spec.template.spec;
  assert.deepEqual(
    [made.spec.runStrategy, terminationGracePeriodSeconds, volumes[0]?.containerDisk?.image],
    ['Once', 0, 'localhost/guests/agent:latest'],
  );
  assert.deepEqual(requests[2]?.[1], { command: ['sh', '-c', 'exit 3'], timeoutSeconds: 600 });
});

test('an image without an agent is said after the time for it, and the machine is gone', async () => {
  const { deps, requests } = world([vmi('Running')]);
  await assert.rejects(run(deps, { ...FLAGS, agentTimeout: 0.05 }, 'tiny', '--', 'true'), {
    code: 'AGENT_MISSING',
    why: /no qemu-guest-agent/,
    exitCode: 5,
  });
  assert.deepEqual(lastOf(requests), [GONE, SEEN]);
});

test('an image without an agent whose ssh server answers runs the command by ssh', async () => {
  const bin = join(home, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'ssh'), '#!/bin/sh\nexit 3\n', { mode: 0o755 });
  let isGone = false;
  const seen = () => (isGone ? status('NotFound', 'it is gone') : vm('Always'));
  const gone = () => {
    isGone = true;
    return {};
  };
  const { deps, stderr } = world([vmi('Running')], { [SEEN]: seen, [GONE]: gone, [INSTANCE]: vmi('Running') });
  const openStream = async () => Duplex.from(Readable.from([Buffer.from('SSH-2.0-x\r\n')]));
  const reached = { ...deps, openStream, env: { PATH: bin }, clock: systemClock };
  const connected = { ...reached, connect: async () => reached };
  assert.equal(await run(connected, { ...FLAGS, agentTimeout: 0.05 }, 'tiny', '--', 'false'), 3);
  assert.match(stderr(), /by ssh, as root/);
  assert.ok(isGone);
});

test('of an image that the catalogue knows to have no agent only the ssh server is waited for', async () => {
  const bin = join(home, 'bin-without-agent');
  mkdirSync(bin);
  writeFileSync(join(bin, 'ssh'), '#!/bin/sh\nexit 3\n', { mode: 0o755 });
  const source = { image: 'quay.io/team/plain:1' };
  const plain = { sources: { amd64: source, arm64: source }, cloudInit: true, agent: false };
  writeFileSync(join(home, 'catalogue.json'), JSON.stringify({ images: { plain } }));
  const { deps, stderr } = world([vmi('Running')], { [SEEN]: status('NotFound', 'it is gone'), [INSTANCE]: vmi('Running') });
  const openStream = async () => Duplex.from(Readable.from([Buffer.from('SSH-2.0-x\r\n')]));
  const reached = { ...deps, openStream, env: { PATH: bin }, clock: systemClock };
  const connected = { ...reached, connect: async () => reached };
  const startedAt = performance.now();
  assert.equal(await run(connected, { ...FLAGS, agentTimeout: 60 }, 'plain', '--', 'false'), 3);
  assert.ok(performance.now() - startedAt < 30_000, 'an agent was waited for');
  assert.match(stderr(), /db has no agent, and an ssh server/);
});

test('a machine that does not start, or ends, is not waited for', async () => {
  const refused = vmi('Scheduling', {
    conditions: [{ type: 'Synchronized', status: 'False', reason: 'ErrImagePull', message: 'no such image' }],
  });
  for (const [seen, why] of [
    [refused, 'ErrImagePull: no such image'],
    [vmi('Succeeded'), 'it is Succeeded'],
  ] as const) {
    const { deps, requests } = world([seen]);
    await assert.rejects(run(deps, FLAGS, 'tiny', '--', 'true'), { code: 'VM_NOT_STARTED', why });
    assert.deepEqual(lastOf(requests), [GONE, SEEN]);
  }
});

test('a command that fails to be run, and Ctrl+C at any time, delete the machine as well', async () => {
  const failing = world([CONNECTED], { [EXEC]: status('Conflict', 'the agent went away') });
  await assert.rejects(run(failing.deps, FLAGS, 'agent', '--', 'true'), { message: 'the agent went away' });
  assert.deepEqual(lastOf(failing.requests), [GONE, SEEN]);
  for (const [moment, seen] of [
    [WATCH, [vmi('Running')]],
    [EXEC, [CONNECTED]],
  ] as const) {
    const { deps, requests, signal } = world(seen, { [EXEC]: () => new Response(new ReadableStream()) });
    const running = run(deps, FLAGS, 'agent', '--', 'sleep', '100');
    await until(() => requests.some(([request]) => request === moment), moment);
    signal('SIGINT');
    await assert.rejects(running, { code: 'INTERRUPTED', exitCode: 130 });
    assert.deepEqual(lastOf(requests), [GONE, SEEN]);
  }
});

test('a machine of somebody else that has the name is not deleted', async () => {
  const { deps, requests } = world([], { [MADE]: status('Conflict', 'already exists') });
  await assert.rejects(run(deps, FLAGS, 'agent', '--', 'true'), { message: 'already exists' });
  assert.deepEqual(
    requests.map(([request]) => request),
    [MADE],
  );
});

test('one that cannot be deleted is named, and the exit code is still that of the command', async () => {
  const { deps, stderr } = world([CONNECTED], { [GONE]: status('Forbidden', 'no right') });
  assert.equal(await run(deps, FLAGS, 'agent', '--', 'true'), 3);
  assert.match(stderr(), /db could not be deleted: no right; virtctl delete db/);
});

test('what does not go together is told with the way to say it', async () => {
  const { deps } = world([]);
  const refused = (flags: object, ...words: string[]) =>
    assert.rejects(run(deps, { ...FLAGS, ...flags }, ...words), { code: 'USAGE', exitCode: 2 });
  await refused({}, 'agent');
  await refused({}, 'agent', '--');
  await refused({ rm: false }, 'agent', '--', 'true');
  await refused({}, 'agent', 'true');
  await refused({ detach: true }, 'agent', '--', 'true');
  await refused({ timeout: 601 }, 'agent', '--', 'true');
  await refused({ agentTimeout: Number.NaN }, 'agent', '--', 'true');
});
