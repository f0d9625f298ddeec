/** Sets the clock of a guest that stood still: it did not notice how long. A guest without an agent has to find out by itself. */
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { AgentSession } from './agent-session.ts';

const PATIENCE_MS = 60_000;
const NANOSECONDS = 1_000_000;

type Options = { readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal };

/** Waits a minute for the agent; what goes wrong is logged. */
export async function setClock(agent: AgentSession, { clock, log, signal }: Options): Promise<void> {
  const deadline = clock.steady() + PATIENCE_MS;
  while (agent.facts.state !== 'connected' && clock.steady() < deadline && !signal.aborted)
    await agent.changed(clock.sleep(deadline - clock.steady(), signal));
  if (agent.facts.state !== 'connected' || signal.aborted) return;
  try {
    await agent.ask({ command: 'guest-set-time', arguments: { time: clock.now() * NANOSECONDS } });
  } catch (error) {
    log.warn('the clock of a guest that had stood still was not set', { error });
  }
}
