/** Enters a machine by the way that is there first, and says what it waits for until then. */
import { UserError } from '../../base/errors.ts';
import { showConsole } from '../console/console.ts';
import type { ClusterDeps } from '../deps.ts';
import { execByAgent } from '../exec/exec-by-agent.ts';
import { loginUserOf } from '../ssh/login-user.ts';
import { decideEntry, type ObservedEntry } from './decide.ts';
import { type EntryObserver, observeEntry } from './observe-entry.ts';
import { commandLine } from './ssh-arguments.ts';
import { loginBySsh, type SshLogin } from './ssh-login.ts';

export type EnterOptions = {
  readonly name: string;
  /** The program was meant for the agent, which runs it as itself; by ssh it runs as whoever is let in, which is said. */
  readonly byAgent?: { readonly timeoutSeconds: number };
  /** A program to run instead of a login. */
  readonly command?: readonly string[] | undefined;
  readonly flags: SshLogin['flags'] & { readonly user?: string; readonly timeout: number };
};

const MINUTE_MS = 60_000;
const LOOK_EVERY_MS = 250;
/** An ssh server that is there answers within them; until then there is nothing to say. */
const QUIET_LOOKS = 4;
/** As long as an agent is waited for; there is no limit by ssh. */
const LONGEST_EXEC_SECONDS = 600;
/** A server that is just coming up may close a connection: a program, which asks nobody anything, is tried so often. */
const SSH_ATTEMPTS = 3;
const USUAL_USER = 'root';

/** The exit code of the program, or of the login. */
export async function enterMachine(deps: ClusterDeps, options: EnterOptions): Promise<number> {
  const { name, command, flags } = options;
  const observer = observeEntry(deps, { name, port: flags.port, wants: command ? 'program' : 'login' });
  try {
    return await enter(deps, options, observer);
  } finally {
    observer.stop();
  }
}

async function enter(deps: ClusterDeps, options: EnterOptions, observer: EntryObserver): Promise<number> {
  const { clock, signal } = deps;
  const say = sayOnce(deps);
  const deadline = clock.steady() + options.flags.timeout * MINUTE_MS;
  let attempts = 0;
  for (let looks = 1; ; looks += 1) {
    const seen = await observer.look();
    const entry = decideEntry(seen);
    if ('waitFor' in entry) {
      const isOver = clock.steady() >= deadline;
      // The first look cannot know whether there is an ssh server: the answer to that is waited for in any case.
      if (isOver && !isAsked(seen)) throw notEntered(deps, options, entry);
      if (!isOver && (!isAsked(seen) || looks > QUIET_LOOKS)) say(entry);
      await clock.sleep(LOOK_EVERY_MS, signal);
    } else if (entry.enter === 'agent') {
      return runByAgent(deps, options, userOf(options, seen));
    } else if (entry.enter === 'console') {
      deps.stderr.write(`No ssh: ${entry.because}. This is the serial console.\n`);
      await showConsole(deps, options.name);
      return 0;
    } else {
      const user = userOf(options, seen);
      if (options.byAgent && attempts === 0) deps.stderr.write(`The guest agent is not connected: by ssh, as ${user}.\n`);
      const { code, isIn } = await loginBySsh(deps, { ...options, user });
      if (isIn) return code;
      attempts += 1;
      if (!options.command || attempts >= SSH_ATTEMPTS) observer.ruleOutSsh(`ssh does not let ${user} in with the key that it was shown`);
      else await clock.sleep(LOOK_EVERY_MS, signal);
    }
  }
}

/** A line whenever what is waited for changes. */
function sayOnce({ stderr }: ClusterDeps): (entry: { readonly waitFor: string; readonly help?: string }) => void {
  let last = '';
  return ({ waitFor, help }) => {
    if (waitFor === last) return;
    last = waitFor;
    stderr.write(`Waiting: ${waitFor}.${help === undefined ? '' : ` (${help}; Ctrl+C ends this.)`}\n`);
  };
}

function isAsked({ vmi, ssh }: ObservedEntry): boolean {
  return vmi?.status?.phase === 'Running' && ssh.is === 'unknown';
}

function notEntered({ namespace }: ClusterDeps, { name, flags }: EnterOptions, entry: { waitFor: string; help?: string }): UserError {
  return new UserError('NOT_ENTERED', `no way into ${namespace}/${name} was there within ${flags.timeout} min`, {
    why: entry.waitFor,
    fix: entry.help ?? `virtctl console ${name} shows the guest, virtctl why ${name} what it waits for`,
    exitCode: 5,
  });
}

function userOf({ flags }: EnterOptions, seen: ObservedEntry): string {
  return flags.user ?? loginUserOf(seen) ?? USUAL_USER;
}

/** The agent is root: whoever else it is to be is found with su, so that a program runs as the same user by either way. */
function runByAgent(deps: ClusterDeps, { name, command = [], flags, byAgent }: EnterOptions, user: string): Promise<number> {
  if (byAgent) return execByAgent(deps, { name, command, timeoutSeconds: byAgent.timeoutSeconds, stdin: flags.stdin });
  const words = user === USUAL_USER ? command : ['su', '-', user, '-c', commandLine(command)];
  return execByAgent(deps, { name, command: words, timeoutSeconds: LONGEST_EXEC_SECONDS, stdin: flags.stdin });
}
