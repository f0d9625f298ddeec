/** Performs the QMP commands of a decision: handed to the guest's session, which sends them without anybody waiting. */
import { keyOf } from '../../api/meta.ts';
import { decideVmi } from './decide.ts';
import type { Domains } from './domains.ts';
import type { ObservedVmi } from './observed.ts';

/** Sends what was decided on this observation. The decision is pure, so making it again costs little and changes nothing. */
export function performCommands(observed: ObservedVmi, domains: Domains): void {
  for (const command of decideVmi(observed).commands) domains.order(keyOf(observed.vmi.metadata), command);
}
