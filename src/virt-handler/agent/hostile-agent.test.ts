import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import type { VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { waitUntil } from '../../qemu/qmp/qemu.testing.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { AgentSession } from './agent-session.ts';
import { type FakeAgent, type Say, startFakeAgent, wellBehaved } from './fake-agent.testing.ts';
import { guestInfoOf } from './guest-info.ts';
import { agentStatus, withAgentNics } from './status.ts';

function follow(t: TestContext, { folder }: FakeAgent, clock = systemClock): AgentSession {
  const session = new AgentSession({ folder, clock, log: silentLogger, onChange: () => {} });
  t.after(() => session.close());
  session.portIs(true);
  return session;
}

const to = (question: string, said: Say) => (command: string) => (command === question ? said : wellBehaved(command));
const line = (value: unknown) => ({ bytes: `${JSON.stringify(value)}\n` });
const interfaces = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ name: `eth${index}`, 'hardware-address': '52:54:00:12:34:56', 'ip-addresses': [] }));

/** Answers after which there is nothing to talk about any more. */
const HOPELESS: readonly (readonly [what: string, answer: (command: string) => Say])[] = [
  ['a line of 10 MB', to('guest-get-osinfo', line({ return: { name: 'x'.repeat(10_000_000) } }))],
  ['100,000 levels', to('guest-get-osinfo', { bytes: `{"return":${'['.repeat(100_000)}${']'.repeat(100_000)}}\n` })],
  ['100,000 levels in 64 KiB', to('guest-get-osinfo', { bytes: `{"return":${'['.repeat(30_000)}${']'.repeat(30_000)}}\n` })],
  ['10,000 interfaces', to('guest-network-get-interfaces', { return: interfaces(10_000) })],
  ['no end of line', to('guest-info', { bytes: '{"return":{' })],
  ['text that is none', to('guest-info', { bytes: Buffer.from([0xff, 0xc3, 0x28, 0x0a]) })],
  ['a list instead of an object', to('guest-info', line([1]))],
  ['the wrong number at every greeting', to('guest-sync-delimited', { bytes: Buffer.from([0xff, ...Buffer.from('{"return":1}\n')]) })],
  ['greetings without end', to('guest-sync-delimited', { bytes: Buffer.alloc(900_000, Buffer.from([0xff, 0x0a])) })],
];

describe('a hostile agent', () => {
  for (const [what, answer] of HOPELESS)
    test(`that answers with ${what} is given up, and another guest is not concerned`, async (t) => {
      const clock = new FakeClock();
      const hostile = follow(t, await startFakeAgent(t, answer), clock);
      const other = follow(t, await startFakeAgent(t));
      await waitUntil(() => {
        clock.advance(1_000);
        return hostile.facts.state === 'absent' && other.facts.state === 'connected';
      }, 'one is given up, the other is connected');
    });

  test('that greets without end is given up in its time, and holds nobody up', async (t) => {
    const endless = Buffer.alloc(64 * 1024, Buffer.from([0xff, 0x0a]));
    const agent = await startFakeAgent(t, to('guest-sync-delimited', { bytes: '' }));
    const pour = (socket: Socket) => {
      while (!socket.destroyed && socket.write(endless));
      if (!socket.destroyed) socket.once('drain', () => pour(socket));
    };
    const session = follow(t, agent);
    await waitUntil(() => agent.connections.size > 0, 'it is asked');
    let longestMs = 0;
    let last = performance.now();
    const beat = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - last);
      last = performance.now();
    }, 5);
    t.after(() => clearInterval(beat));
    for (const socket of agent.connections) pour(socket);
    await waitUntil(() => session.facts.state === 'absent', 'it is given up');
    assert.ok(longestMs < 500, `nothing else happened for ${Math.round(longestMs)} ms`);
  });

  test('that says what nobody asked for is believed in nothing of it', async (t) => {
    const forged = JSON.stringify({ return: { name: 'forged' } });
    const agent = await startFakeAgent(t);
    const session = follow(t, agent);
    await waitUntil(() => session.facts.state === 'connected', 'it is connected');
    for (const socket of agent.connections) socket.write(`${forged}\n`.repeat(100));
    assert.equal((await guestInfoOf(session)).os.name, 'Debian GNU/Linux');
  });

  for (const [index, wrong] of [null, 1, 'text', true, [], {}, [null], [[]], { name: {}, 'ip-addresses': 7 }].entries())
    test(`that answers every question with ${JSON.stringify(wrong)} has told nothing (${index})`, async (t) => {
      const session = follow(t, await startFakeAgent(t, (command) => (command === 'guest-sync-delimited' ? undefined : { return: wrong })));
      await waitUntil(() => session.facts.state === 'connected', 'it is connected');
      const { os, nics, isFrozen } = session.facts;
      assert.deepEqual({ os, nics, isFrozen }, { os: {}, nics: [], isFrozen: false });
      assert.deepEqual((await guestInfoOf(session)).fsInfo, { disks: [] });
    });

  test('that says as much as it may makes a status below 64 KiB, with ten interfaces of its own', async (t) => {
    const address = { 'ip-address': '2001:db8:1234:5678:9abc:def0:1234:5678' };
    const nics = Array.from({ length: 30 }, (_, index) => ({
      name: `${index}${'x'.repeat(61)}`,
      'hardware-address': `52:54:00:12:34:${String(index).padStart(2, '0')}`,
      'ip-addresses': Array.from({ length: 30 }, () => address),
    }));
    const os = Object.fromEntries(
      ['name', 'id', 'version', 'machine', 'pretty-name', 'kernel-release'].map((key) => [key, '\u{1f427}'.repeat(2_000)]),
    );
    const answers: Readonly<Record<string, unknown>> = { 'guest-network-get-interfaces': nics, 'guest-get-osinfo': os };
    const session = follow(
      t,
      await startFakeAgent(t, (command) => (command in answers ? { return: answers[command] } : wellBehaved(command))),
    );
    await waitUntil(() => session.facts.state === 'connected', 'it is connected');
    const before: VmiStatus = { phase: 'Running' };
    const shown = withAgentNics([{ name: 'default', mac: '52:54:00:12:34:00' }], [], session.facts);
    const status = { ...agentStatus(before, session.facts), interfaces: shown };
    assert.equal(shown.length, 11);
    assert.ok(Buffer.byteLength(JSON.stringify(status)) < 64 * 1024, `${JSON.stringify(status).length} characters`);
  });
});
