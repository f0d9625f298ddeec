import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { systemClock } from '../../base/clock.ts';
import { isApiError } from '../../base/errors.ts';
import { silentLogger } from '../../base/log.ts';
import { waitUntil } from '../../qemu/qmp/qemu.testing.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { AgentSession } from './agent-session.ts';
import { type FakeAgent, type Say, startFakeAgent, wellBehaved } from './fake-agent.testing.ts';

function follow(t: TestContext, { folder }: FakeAgent, clock = systemClock): { session: AgentSession; changes: () => number } {
  let changes = 0;
  const session = new AgentSession({ folder, clock, log: silentLogger, onChange: () => changes++ });
  t.after(() => session.close());
  session.portIs(true);
  return { session, changes: () => changes };
}

const isConnected = (session: AgentSession) => () => session.facts.state === 'connected';

describe('an agent', () => {
  test('is asked at once, and its answers are kept', async (t) => {
    const { session } = follow(t, await startFakeAgent(t));
    await waitUntil(isConnected(session), 'the agent is connected');
    assert.deepEqual(session.facts, {
      state: 'connected',
      missing: [],
      isFrozen: false,
      os: { id: 'debian', name: 'Debian GNU/Linux', kernelRelease: '6.1.0', prettyName: 'Debian 12' },
      nics: [{ interfaceName: 'eth0', mac: '52:54:00:12:34:56', ipAddresses: ['10.0.2.2'] }],
    });
    session.portIs(false);
    assert.deepEqual(session.facts, { state: 'absent' });
    await assert.rejects(session.ask({ command: 'guest-ping' }), (error) => isApiError(error, 'Conflict'));
  });

  test('that says the same again changes nothing', async (t) => {
    const clock = new FakeClock();
    const agent = await startFakeAgent(t);
    const { session, changes } = follow(t, agent, clock);
    await waitUntil(isConnected(session), 'the agent is connected');
    const looks = () => agent.asked.filter((command) => command === 'guest-info').length;
    for (let round = 2; round <= 4; round++) {
      await waitUntil(() => {
        if (looks() < round) clock.advance(1_000);
        return looks() >= round;
      }, `look ${round}`);
    }
    assert.equal(changes(), 1);
  });
});

const NASTY: readonly (readonly [string, (command: string) => Say])[] = [
  ['never answers', () => ({ bytes: '' })],
  ['answers with a line of 10 MB', (command) => (command === 'guest-info' ? { bytes: Buffer.alloc(10_000_000, 97) } : undefined)],
  ['answers with nesting', (command) => (command === 'guest-info' ? { bytes: `${'['.repeat(50_000)}\n` } : undefined)],
  [
    'answers with bytes that are no text',
    (command) => (command === 'guest-info' ? { bytes: Buffer.from([0xc3, 0x28, 0x80, 10]) } : undefined),
  ],
  ['closes nothing and floods', () => ({ bytes: Buffer.alloc(4_000_000, 0xff) })],
];

describe('a nasty agent', () => {
  for (const [name, answer] of NASTY)
    test(`that ${name} is left alone after a while`, async (t) => {
      const clock = new FakeClock();
      const { session } = follow(t, await startFakeAgent(t, answer), clock);
      await waitUntil(() => {
        clock.advance(1_000);
        return session.facts.state === 'absent';
      }, 'it is given up');
    });

  test('that floods between questions is not read, and answers the next one', async (t) => {
    const agent = await startFakeAgent(t);
    const { session } = follow(t, agent);
    await waitUntil(isConnected(session), 'the agent is connected');
    const [socket] = agent.connections;
    for (let count = 0; count < 64; count++) socket?.write(Buffer.alloc(64 * 1024, 97));
    await systemClock.sleep(50);
    assert.ok((socket?.writableLength ?? 0) > 1024 * 1024, 'the flood has been taken');
    // More than leftovers: the conversation ends, and the next one begins.
    await assert.rejects(session.ask({ command: 'guest-fsfreeze-status' }), /more than/);
    await waitUntil(async () => (await session.ask({ command: 'guest-fsfreeze-status' }).catch(() => '')) === 'thawed', 'it answers again');
  });

  test('that comes and goes all the time is asked less and less often, and forgiven when it stays', async (t) => {
    const clock = new FakeClock();
    const { session, changes } = follow(t, await startFakeAgent(t), clock);
    await waitUntil(isConnected(session), 'the agent is connected');
    for (let flap = 0; flap < 100; flap++) {
      session.portIs(false);
      session.portIs(true);
    }
    await waitUntil(() => {
      clock.advance(1_000);
      return session.facts.state === 'connected';
    }, 'the agent is connected again');
    assert.equal(changes() < 10, true, `${changes()} changes`);
    const before = clock.now();
    session.portIs(false);
    session.portIs(true);
    await waitUntil(() => {
      clock.advance(1_000);
      return session.facts.state === 'connected';
    }, 'it is connected once more');
    assert.equal(clock.now() - before >= 2_000, true, 'it had to wait');
    clock.advance(120_000);
    session.portIs(false);
    session.portIs(true);
    await waitUntil(isConnected(session), 'it is connected at once');
  });

  test('whose answer comes late is not believed later', async (t) => {
    const clock = new FakeClock();
    let late = 0;
    const agent = await startFakeAgent(t, (command) =>
      command === 'guest-ping' && late++ === 0 ? { bytes: '' } : command === 'guest-ping' ? { return: 'second' } : wellBehaved(command),
    );
    const { session } = follow(t, agent, clock);
    await waitUntil(isConnected(session), 'the agent is connected');
    const first = assert.rejects(session.ask({ command: 'guest-ping' }), /did not answer guest-ping within 10 s/);
    await waitUntil(() => late === 1, 'it was asked');
    clock.advance(10_000);
    await first;
    await waitUntil(async () => {
      clock.advance(1_000);
      return (await session.ask({ command: 'guest-ping' }).catch(() => undefined)) === 'second';
    }, 'it answers');
  });
});

describe('a frozen guest', () => {
  async function freezable(t: TestContext, isFrozen = false) {
    let status = isFrozen;
    const agent = await startFakeAgent(t, (command) => {
      if (command === 'guest-fsfreeze-status') return { return: status ? 'frozen' : 'thawed' };
      if (command === 'guest-fsfreeze-freeze') status = true;
      if (command === 'guest-fsfreeze-thaw') status = false;
      if (command.startsWith('guest-fsfreeze')) return { return: 1 };
      return status && command !== 'guest-info'
        ? command === 'guest-sync-delimited'
          ? undefined
          : { error: 'disabled' }
        : wellBehaved(command);
    });
    const clock = new FakeClock();
    const { session } = follow(t, agent, clock);
    await waitUntil(isConnected(session), 'the agent is connected');
    return { session, clock, isFrozen: () => status };
  }

  test('is thawed when asked', async (t) => {
    const { session, isFrozen } = await freezable(t);
    await session.freeze(60_000);
    assert.deepEqual([isFrozen(), session.facts.isFrozen], [true, true]);
    await session.thaw();
    assert.deepEqual([isFrozen(), session.facts.isFrozen], [false, false]);
  });

  test('is thawed at its deadline when nobody asks', async (t) => {
    const { session, clock, isFrozen } = await freezable(t);
    await session.freeze(60_000);
    clock.advance(59_000);
    assert.equal(isFrozen(), true);
    clock.advance(1_000);
    await waitUntil(() => !isFrozen() && session.facts.isFrozen === false, 'it is thawed');
  });

  test('whose freezer is gone is thawed within a minute', async (t) => {
    const { session, clock, isFrozen } = await freezable(t, true);
    assert.equal(session.facts.isFrozen, true);
    clock.advance(60_000);
    await waitUntil(() => !isFrozen(), 'it is thawed');
  });
});
