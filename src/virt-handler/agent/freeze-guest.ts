/** Stops writes to the file systems of a guest, for a time. */
import type { FreezeQuestion } from '../../api/handler/questions.ts';
import { parseGoDuration } from '../../base/go-duration.ts';
import type { AgentSession } from './agent-session.ts';

const DEFAULT_FREEZE_MS = 300_000;
const LONGEST_FREEZE_MS = 3_600_000;

/** Whoever asked may never come back, so a freeze always ends by itself. */
export async function freezeGuest(agent: AgentSession, { unfreezeTimeout = '' }: FreezeQuestion): Promise<void> {
  const askedMs = parseGoDuration(unfreezeTimeout) || DEFAULT_FREEZE_MS; // zero, too
  await agent.freeze(Math.min(askedMs, LONGEST_FREEZE_MS));
}
