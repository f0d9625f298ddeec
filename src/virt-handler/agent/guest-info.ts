/** What an agent tells of the inside of its guest, with the fields that KubeVirt publishes. */
import type { GuestAgentInfo, GuestFileSystemList, GuestUserList } from '../../api/handler/answers.ts';
import type { AgentSession } from './agent-session.ts';
import { AgentRefusal } from './channel.ts';
import { readFileSystems, readHostname, readIsFrozen, readOsInfo, readTimezone, readUsers, readVersion } from './facts.ts';

/** Who is logged in. */
export async function userListOf(agent: AgentSession): Promise<GuestUserList> {
  return { metadata: {}, items: readUsers(await agent.ask({ command: 'guest-get-users' })) };
}

/** What is mounted. */
export async function fileSystemListOf(agent: AgentSession): Promise<GuestFileSystemList> {
  return { metadata: {}, items: readFileSystems(await agent.ask({ command: 'guest-get-fsinfo' })) };
}

/** Everything at once; what the agent cannot tell is left out. */
export async function guestInfoOf(agent: AgentSession): Promise<GuestAgentInfo> {
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
