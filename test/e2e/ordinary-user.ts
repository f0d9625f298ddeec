/**
 * A user of this machine who is not root, has an empty home folder, and nothing of this project but what they install. Where the tests
 * themselves are not run by root, they are that user; several are then the same one, with a home folder each.
 */
import { execFileSync, spawn } from 'node:child_process';
import {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConsoleSession, type Result, run } from './harness.ts';

const isRoot = process.getuid?.() === 0;
/** How many one process of tests may make. */
const USERS = 4;
const SUBORDINATES = 65_536;
const TUN = '/dev/net/tun';

export class OrdinaryUser implements AsyncDisposable {
  static #made = 0;
  /** Nobody else's, so that every process of this user is one that the test is to blame for. */
  readonly #uid: number;
  /** The first of those that the system has put aside for this user, as it does for people. */
  readonly #firstSubordinate: number;
  readonly #folder = mkdtempSync(join(tmpdir(), 'kubevirt-ts-user-'));
  readonly home = join(this.#folder, 'home');
  readonly #path: string;

  /** With the Node that runs the tests on PATH, unless there is to be another. */
  constructor({ hasNode = true }: { readonly hasNode?: boolean } = {}) {
    if (OrdinaryUser.#made === USERS) throw new Error(`more than ${USERS} users: their ids would be those of another test`);
    const index = process.pid * USERS + OrdinaryUser.#made++;
    this.#uid = isRoot ? 1_500_000 + index : (process.getuid?.() ?? 0);
    this.#firstSubordinate = 2 ** 31 + (index % 30_000) * SUBORDINATES;
    execFileSync('chmod', ['0755', this.#folder]);
    mkdirSync(join(this.#folder, 'node'));
    if (hasNode) copyFileSync(process.execPath, join(this.#folder, 'node/node')); // the clone may be where others cannot look
    mkdirSync(this.home);
    if (isRoot) chownSync(this.home, this.#uid, this.#uid);
    writeFileSync(
      join(this.#folder, 'passwd'),
      `${readFileSync('/etc/passwd', 'utf8')}tester:x:${this.#uid}:${this.#uid}::${this.home}:/bin/sh\n`,
    );
    writeFileSync(join(this.#folder, 'subordinates'), `tester:${this.#firstSubordinate}:${SUBORDINATES}\n`);
    this.#path = [join(this.#folder, 'node'), join(this.home, 'npm/bin'), '/usr/local/bin', '/usr/bin', '/bin'].join(':');
  }

  /** Runs a program to its end. */
  run(program: string, args: readonly string[]): Promise<Result> {
    const [command = '', ...rest] = this.#command(program, args);
    return run(command, rest, { cwd: this.#folder });
  }

  async must(program: string, args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(program, args);
    if (code !== 0) throw new Error(`${program} ${args.join(' ')} left with ${code}\n${stdout}${stderr}`);
    return stdout;
  }

  session(program: string, args: readonly string[]): ConsoleSession {
    const [command = '', ...rest] = this.#command(program, args);
    return new ConsoleSession(spawn(command, rest, { cwd: this.#folder }));
  }

  /** What runs as this user. */
  processes(): string[] {
    return this.#pids()
      .map(commandOf)
      .filter((command) => command !== '');
  }

  /** Whatever a failed test left. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.processes().length > 0) await this.run('virtctl', ['down', '--purge']);
    for (const pid of this.#pids()) process.kill(Number(pid), 'SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** True when it runs, and as one of the users that were put aside for this one. */
  runsApart(program: string): boolean {
    return this.#pids().some((pid) => commandOf(pid).split(' ')[0]?.endsWith(`/${program}`) && this.#isSubordinate(uidOf(pid)));
  }

  /** None where the test itself is run by this user. */
  #pids(): string[] {
    if (!isRoot) return [];
    return readdirSync('/proc').filter((entry) => {
      if (!/^\d+$/.test(entry)) return false;
      const uid = uidOf(entry);
      return uid === this.#uid || this.#isSubordinate(uid);
    });
  }

  #isSubordinate(uid: number): boolean {
    return uid >= this.#firstSubordinate && uid < this.#firstSubordinate + SUBORDINATES;
  }

  #command(program: string, args: readonly string[]): string[] {
    const env = ['env', '-i', `HOME=${this.home}`, `PATH=${this.#path}`, 'NO_COLOR=1', program, ...args];
    if (!isRoot) return env;
    const become = ['setpriv', '--reuid', String(this.#uid), '--regid', String(this.#uid), '--clear-groups', ...env];
    return ['unshare', '--mount', 'sh', '-c', `${WITH_FILES}${isTunOpen() ? '' : WITH_TUN}exec "$@"`, this.#folder, ...become];
  }
}

/** Whether this machine can give an ordinary user users of their own. */
export const hasSubordinates =
  isRoot && ['/usr/bin/newuidmap', '/usr/bin/newgidmap', '/etc/subuid', '/etc/subgid'].every((path) => existsSync(path));

/** What the machine knows of the user, in mounts of their own: nothing of the machine is changed. */
const WITH_FILES = `set -e
for file in passwd:passwd subordinates:subuid subordinates:subgid; do
  if [ -e "/etc/\${file##*:}" ]; then mount --bind "$0/\${file%%:*}" "/etc/\${file##*:}"; fi
done
`;
/** Debian lets everybody make such devices. Where the machine does not, the user sees another device file. */
const WITH_TUN = `[ -e "$0/tun" ] || { mknod "$0/tun" c 10 200 && chmod 666 "$0/tun"; }; mount --bind "$0/tun" ${TUN}
`;

function isTunOpen(): boolean {
  return (statSync(TUN).mode & 0o006) === 0o006;
}

/** Nobody's for one that has ended. */
function uidOf(pid: string): number {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid ?? Number.NaN;
}

/** Empty for one that has ended. */
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}
