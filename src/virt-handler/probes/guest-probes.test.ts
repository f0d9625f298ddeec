import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { VmiProbe } from '../../api/kubevirt/guest-probe.ts';
import type { VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { silentLogger } from '../../base/log.ts';
import { waitUntil } from '../../qemu/qmp/qemu.testing.ts';
import { vmi } from '../../testing/builders.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { AgentSession } from '../agent/agent-session.ts';
import { type FakeAgent, type Say, startFakeAgent, wellBehaved } from '../agent/fake-agent.testing.ts';
import type { DomainState } from '../vmi/domain.ts';
import { GuestProbes, type ProbeFacts } from './guest-probes.ts';

type Given = {
  readonly answer?: (command: string, args: object) => Say;
  readonly status?: Partial<VmiStatus>;
  readonly takesConnection?: () => Promise<string | undefined>;
};

/** A guest with this agent, asked by a clock that the test moves. */
class Asked {
  readonly clock = new FakeClock();
  state: DomainState = 'running';
  changes = 0;
  readonly agent: FakeAgent;
  readonly session: AgentSession;
  readonly #probes: GuestProbes;

  constructor(t: TestContext, agent: FakeAgent, probes: object, { status = {}, takesConnection }: Given) {
    this.agent = agent;
    this.session = new AgentSession({ folder: agent.folder, clock: this.clock, log: silentLogger, onChange: () => {} });
    const ended = new AbortController();
    t.after(() => {
      ended.abort();
      this.session.close();
    });
    const plain = vmi('Running', status);
    this.#probes = new GuestProbes(
      {
        vmi: { ...plain, spec: { ...plain.spec, ...probes } },
        agent: this.session,
        stateOf: () => this.state,
        takesConnection: takesConnection ?? (async () => undefined),
        clock: this.clock,
        onChange: () => this.changes++,
      },
      ended.signal,
    );
  }

  get facts(): ProbeFacts {
    return this.#probes.facts;
  }

  count(command: string): number {
    return this.agent.asked.filter((each) => each === command).length;
  }

  /** Moves time in steps until it is so. */
  until(isSo: () => boolean, what: string, stepMs = 200): Promise<void> {
    return waitUntil(() => {
      if (!isSo()) this.clock.advance(stepMs);
      return isSo();
    }, what);
  }

  /** The agent is there. */
  async connected(): Promise<this> {
    this.session.portIs(true);
    await this.until(() => this.session.facts.state === 'connected', 'the agent is connected');
    return this;
  }
}

async function ask(t: TestContext, probes: object, given: Given = {}): Promise<Asked> {
  return new Asked(t, await startFakeAgent(t, given.answer ?? pinged), probes, given);
}

function pinged(command: string): Say {
  return command === 'guest-ping' ? { return: {} } : wellBehaved(command);
}

const ping: VmiProbe = { guestAgentPing: {}, periodSeconds: 1, failureThreshold: 2, timeoutSeconds: 2 };
const exec: VmiProbe = { exec: { command: ['check', 'me'] }, periodSeconds: 1, failureThreshold: 1, timeoutSeconds: 5 };

test('an agent that answers is a yes, after the time a guest has to boot', async (t) => {
  const asked = await (await ask(t, { readinessProbe: ping })).connected();
  const connectedAt = asked.clock.now();
  await asked.until(() => asked.facts.readiness !== undefined, 'there is a verdict');
  assert.deepEqual([asked.facts, asked.changes, asked.clock.now() - connectedAt >= 9_000], [{ readiness: { isYes: true } }, 1, true]);
});

test('an agent that goes is a no after the threshold, and a yes again when it is back', async (t) => {
  const asked = await (await ask(t, { livenessProbe: ping })).connected();
  await asked.until(() => asked.facts.liveness?.isYes === true, 'it is alive');
  asked.session.portIs(false);
  await asked.until(() => asked.facts.liveness?.isYes === false, 'it is not alive');
  assert.equal(asked.facts.liveness?.why, 'VMI does not have guest agent connected');
  asked.session.portIs(true);
  await asked.until(() => asked.facts.liveness?.isYes === true, 'it is alive again');
});

test('an agent that never answers is a no in time, and is not buried in questions', async (t) => {
  const answer = (command: string) => (command === 'guest-ping' ? { bytes: '' } : wellBehaved(command));
  const asked = await (await ask(t, { livenessProbe: ping }, { answer })).connected();
  await asked.until(() => asked.facts.liveness !== undefined, 'there is a verdict');
  assert.deepEqual([asked.facts.liveness, asked.count('guest-ping')], [{ isYes: false, why: 'no answer in time' }, 1]);
});

test('a guest that is paused is not asked', async (t) => {
  const asked = await (await ask(t, { livenessProbe: ping })).connected();
  await asked.until(() => asked.facts.liveness?.isYes === true, 'it is alive');
  asked.state = 'paused';
  asked.session.portIs(false);
  const until = asked.clock.now() + 60_000;
  await asked.until(() => asked.clock.now() >= until, 'a minute passes', 1_000);
  assert.deepEqual(asked.facts.liveness, { isYes: true });
});

test('a program that leaves with 0 is a yes, with anything else a no; its output is not asked for', async (t) => {
  const codes = [0, 3];
  const given: object[] = [];
  const answer = (command: string, args: object): Say => {
    if (command === 'guest-exec') given.push(args);
    if (command === 'guest-exec') return { return: { pid: 7 } };
    return command === 'guest-exec-status' ? { return: { exited: true, exitcode: codes.shift() ?? 3 } } : wellBehaved(command);
  };
  const asked = await (await ask(t, { readinessProbe: exec }, { answer })).connected();
  await asked.until(() => asked.facts.readiness?.isYes === true, 'it is ready');
  await asked.until(() => asked.facts.readiness?.isYes === false, 'it is not ready');
  assert.equal(asked.facts.readiness?.why, 'the program left with 3');
  assert.deepEqual(given[0], { path: 'check', arg: ['me'], 'capture-output': false });
});

test('a program that hangs is a no, and is not started again while it runs', async (t) => {
  let isOver = false;
  const answer = (command: string): Say => {
    if (command === 'guest-exec') return { return: { pid: 7 } };
    return command === 'guest-exec-status' ? { return: isOver ? { exited: true, exitcode: 0 } : { exited: false } } : wellBehaved(command);
  };
  const asked = await (await ask(t, { readinessProbe: exec }, { answer })).connected();
  await asked.until(() => asked.facts.readiness?.isYes === false, 'it is not ready');
  const until = asked.clock.now() + 10_000;
  await asked.until(() => asked.clock.now() >= until, 'some questions later');
  assert.deepEqual([asked.facts.readiness?.why, asked.count('guest-exec')], ['no answer in time', 1]);
  isOver = true;
  await asked.until(() => asked.facts.readiness?.isYes === true, 'it is ready');
  assert.equal(asked.count('guest-exec') > 1, true);
});

test('a frozen guest runs no programs, and is not blamed for it', async (t) => {
  const answer = (command: string): Say => (command === 'guest-fsfreeze-status' ? { return: 'frozen' } : pinged(command));
  const asked = await (await ask(t, { livenessProbe: exec }, { answer })).connected();
  const until = asked.clock.now() + 30_000;
  await asked.until(() => asked.clock.now() >= until, 'half a minute passes');
  assert.deepEqual([asked.facts, asked.count('guest-exec')], [{}, 0]);
});

test('a port is asked without an agent, and why it says no is kept', async (t) => {
  let why: string | undefined = 'the guest refused the connection';
  const probe = { tcpSocket: { port: 22 }, periodSeconds: 1, failureThreshold: 1 };
  const asked = await ask(t, { readinessProbe: probe }, { takesConnection: async () => why });
  await asked.until(() => asked.facts.readiness !== undefined, 'there is a verdict');
  assert.deepEqual(asked.facts.readiness, { isYes: false, why });
  why = undefined;
  await asked.until(() => asked.facts.readiness?.isYes === true, 'it is ready');
});

test('a handler that comes back believes what was written until it knows better', async (t) => {
  const conditions = [{ type: 'GuestReady', status: 'True' as const }];
  const asked = await ask(t, { readinessProbe: { ...ping, failureThreshold: 3 } }, { status: { conditions } });
  asked.session.portIs(false);
  await asked.until(() => asked.facts.readiness?.isYes === true, 'a no or two change nothing');
  await asked.until(() => asked.facts.readiness?.isYes === false, 'three do');
});
