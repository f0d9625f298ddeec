/**
 * A guest that goes on with the memory of another machine becomes one of its own: its cards are without a link while it begins to run, and until its
 * agent has given it a name, an id, keys and addresses. Every step can be repeated: whoever is killed in between begins again.
 */
import { randomBytes } from 'node:crypto';
import type { ExecResult } from '../../api/handler/answers.ts';
import type { ExecQuestion } from '../../api/handler/questions.ts';
import type { Clock } from '../../base/clock.ts';
import { isObject } from '../../base/json.ts';
import type { AgentSession } from '../agent/agent-session.ts';
import { execInGuest } from '../agent/exec-in-guest.ts';
import type { NewIdentity, RunInGuest } from '../vmi/domain-command.ts';
import type { Performer } from '../vmi/performer.ts';
import { IDENTITY_SCRIPT } from './identity-script.ts';

const AGENT_MS = 60_000;
const SCRIPT_SECONDS = 120;
/** What the kernel of the guest mixes into its own; as much as it keeps. */
const RANDOM_BYTES = 512;
const ANNOUNCE = { initial: 50, max: 550, rounds: 5, step: 100 } as const;

/** Resolves when the guest runs as who it is to be. */
export async function becomeAnother(
  { qmp, runInGuest }: Pick<Performer, 'qmp' | 'runInGuest'>,
  { hostname, cards }: NewIdentity,
): Promise<void> {
  if (!runInGuest) throw new Error('nobody listens to its agent');
  for (const { device } of cards) await qmp.execute('set_link', { name: device, up: false });
  await qmp.execute('cont');
  const addresses: string[] = [];
  for (const { device, mac } of cards) {
    const shown = addressIn(await qmp.execute('query-rx-filter', { name: device }));
    if (shown === undefined) throw new Error(`the address of card ${device} cannot be changed while its guest runs`);
    if (shown !== mac) addresses.push(shown, mac);
  }
  const machineId = randomBytes(16).toString('hex');
  const result = await runInGuest({
    command: ['/bin/sh', '-c', IDENTITY_SCRIPT, 'identity', hostname, machineId, ...addresses],
    input: randomBytes(RANDOM_BYTES).toString('base64'),
    timeoutSeconds: SCRIPT_SECONDS,
  });
  if (result.exitCode !== 0) throw new Error(`its agent did not give it one: ${whyOf(result)}`);
  for (const { device } of cards) await qmp.execute('set_link', { name: device, up: true });
  await qmp.execute('announce-self', ANNOUNCE);
}

/** What the driver in the guest has set, or found. */
function addressIn(answer: unknown): string | undefined {
  const first: unknown = Array.isArray(answer) ? answer[0] : undefined;
  return isObject(first) && typeof first['main-mac'] === 'string' ? first['main-mac'].toLowerCase() : undefined;
}

function whyOf({ exitCode, signal, stderr }: ExecResult): string {
  const said = Buffer.from(stderr, 'base64').toString('utf8').trim().slice(-300);
  return said || (signal === undefined ? `exit code ${exitCode}` : `signal ${signal}`);
}

/** Asks the agent when it is there, which a guest that has just begun to run takes a moment for. */
export function runnerIn(agent: AgentSession, clock: Clock, signal: AbortSignal): RunInGuest {
  return async (question: ExecQuestion) => {
    const deadline = clock.steady() + AGENT_MS;
    while (agent.facts.state !== 'connected' && clock.steady() < deadline && !signal.aborted)
      await agent.changed(clock.sleep(deadline - clock.steady(), signal));
    if (agent.facts.state !== 'connected') throw new Error(`its agent has not answered for ${AGENT_MS / 1000} s`);
    return execInGuest(agent, question, clock);
  };
}
