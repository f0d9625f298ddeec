/** Puts the question of one probe to a guest. */
import type { VmiProbe } from '../../api/kubevirt/guest-probe.ts';
import type { Clock } from '../../base/clock.ts';
import type { AgentSession } from '../agent/agent-session.ts';
import { AgentRefusal } from '../agent/channel.ts';
import { endOf, startInGuest } from '../agent/exec-in-guest.ts';

export type GuestWays = {
  readonly agent: AgentSession;
  /** Undefined when the guest takes a connection at this port, else why not. */
  readonly takesConnection: (port: number, signal: AbortSignal) => Promise<string | undefined>;
  readonly clock: Clock;
};
type Patience = { readonly timeoutMs: number; readonly signal: AbortSignal };
/** Undefined for a yes, the reason for a no; throws when the question could not be asked, which is a no, too. */
export type AskGuest = (patience: Patience) => Promise<string | undefined>;

/** The question of a probe that is asked in the guest. Keep it for as long as the probe: it remembers what still runs. */
export function questionOf({ tcpSocket, exec }: VmiProbe, ways: GuestWays): AskGuest {
  if (tcpSocket) return ({ signal }) => ways.takesConnection(Number(tcpSocket.port), signal);
  if (exec) return runOf(exec.command ?? [], ways);
  return async () => {
    await ways.agent.ask({ command: 'guest-ping' });
    return undefined;
  };
}

/** Nothing is started while the program of an older question still runs: a program that hangs would fill the guest with itself. */
function runOf(command: readonly string[], { agent, clock }: GuestWays): AskGuest {
  let left: number | undefined;
  return async ({ timeoutMs }) => {
    if (left !== undefined && !(await hasEnded(agent, clock, left))) return 'the program of an earlier question still runs';
    // Its output is nobody's concern here, so there is none to be afraid of.
    left = await startInGuest(agent, { command, capturesOutput: false });
    const end = await endOf({ agent, clock, pid: left, timeoutMs });
    if (!end) return `the program still runs after ${timeoutMs / 1000} s`;
    left = undefined;
    if (end.exitCode === 0) return undefined;
    return end.signal === undefined ? `the program left with ${end.exitCode ?? 'no exit code'}` : `signal ${end.signal} ended the program`;
  };
}

async function hasEnded(agent: AgentSession, clock: Clock, pid: number): Promise<boolean> {
  try {
    return (await endOf({ agent, clock, pid, timeoutMs: 0 })) !== undefined;
  } catch (error) {
    if (error instanceof AgentRefusal) return true; // another agent, which does not know it
    throw error;
  }
}
