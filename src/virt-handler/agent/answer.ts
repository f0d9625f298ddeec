/** What virt-api may ask about the inside of a guest: each question, and how the agent's answers become one of ours. */
import { readFreezeQuestion } from '../../api/handler/questions.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import { parseGoDuration } from '../../base/go-duration.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import type { AgentSession } from './agent-session.ts';
import { AgentRefusal } from './channel.ts';
import { execInGuest } from './exec-in-guest.ts';
import { readFileSystems, readHostname, readIsFrozen, readOsInfo, readTimezone, readUsers, readVersion } from './facts.ts';

export type GuestQuestion = { readonly method: string; readonly what: string; readonly body: JsonObject };
type Answer = (agent: AgentSession, body: JsonObject, clock: Clock) => Promise<object | undefined>;

const DEFAULT_FREEZE_MS = 300_000;
const LONGEST_FREEZE_MS = 3_600_000;

const ANSWERS: Readonly<Record<string, Answer>> = {
  'GET guestosinfo': guestInfo,
  'GET userlist': async (agent) => ({ metadata: {}, items: readUsers(await agent.ask({ command: 'guest-get-users' })) }),
  'GET filesystemlist': async (agent) => ({ metadata: {}, items: readFileSystems(await agent.ask({ command: 'guest-get-fsinfo' })) }),
  'PUT freeze': async (agent, body) => {
    const { unfreezeTimeout = '' } = readFreezeQuestion(body);
    await agent.freeze(Math.min(parseGoDuration(unfreezeTimeout) || DEFAULT_FREEZE_MS, LONGEST_FREEZE_MS));
    return undefined;
  },
  'PUT unfreeze': async (agent) => {
    await agent.thaw();
    return undefined;
  },
  'PUT exec': execInGuest,
};

/** Undefined when this is nothing that is asked of agents. */
export function answerFor({ method, what }: Pick<GuestQuestion, 'method' | 'what'>): Answer | undefined {
  const key = `${method} ${what}`;
  return Object.hasOwn(ANSWERS, key) ? ANSWERS[key] : undefined;
}

/** The body of a question; anything but an object is none. */
export function readQuestion(text: string): JsonObject {
  try {
    const body: unknown = JSON.parse(text || '{}');
    return isObject(body) ? body : {};
  } catch (error) {
    throw new ApiError('BadRequest', 'the question is not JSON', { cause: error });
  }
}

/** Everything at once; what the agent cannot tell is left out. */
async function guestInfo(agent: AgentSession): Promise<object> {
  const ask = async <T>(command: string, read: (answer: unknown) => T): Promise<T | undefined> => {
    try {
      return read(await agent.ask({ command }));
    } catch (error) {
      if (error instanceof AgentRefusal) return undefined;
      throw error;
    }
  };
  const version = await ask('guest-info', readVersion);
  const disks = await ask('guest-get-fsinfo', readFileSystems);
  const isFrozen = await ask('guest-fsfreeze-status', readIsFrozen);
  return {
    guestAgentVersion: version?.version,
    supportedCommands: version?.commands,
    hostname: await ask('guest-get-host-name', readHostname),
    os: (await ask('guest-get-osinfo', readOsInfo)) ?? {},
    timezone: await ask('guest-get-timezone', readTimezone),
    userList: await ask('guest-get-users', readUsers),
    fsInfo: { disks: disks ?? [] },
    fsFreezeStatus: isFrozen === undefined ? undefined : isFrozen ? 'frozen' : 'thawed',
  };
}
