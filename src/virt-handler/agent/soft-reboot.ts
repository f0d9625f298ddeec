/** Asks a guest to reboot by itself. */
import type { Logger } from '../../base/log.ts';
import type { DomainSession } from '../vmi/session.ts';
import type { AgentSession } from './agent-session.ts';

export type Rebooting = { readonly agent: Pick<AgentSession, 'facts' | 'ask'>; readonly session: Pick<DomainSession, 'act'> };

/** Whoever listens inside reboots in order; the keys are for guests without an agent, or with one that refuses. */
export async function softReboot({ agent, session }: Rebooting, log: Logger): Promise<void> {
  if (!(await isRebootedByAgent(agent, log))) await session.act('softreboot');
}

async function isRebootedByAgent(agent: Rebooting['agent'], log: Logger): Promise<boolean> {
  if (agent.facts.state !== 'connected') return false;
  try {
    await agent.ask({ command: 'guest-shutdown', arguments: { mode: 'reboot' }, mayBeSilent: true });
    return true;
  } catch (error) {
    log.warn('the guest agent does not reboot its guest', { error });
    return false;
  }
}
