/**
 * A user of this machine who is not root, has an empty home folder, and nothing of this project but what they install. Where the tests
 * themselves are not run by root, they are that user.
 */
import { execFileSync, spawn } from 'node:child_process';
import { chownSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConsoleSession, type Result, run } from './harness.ts';

const isRoot = process.getuid?.() === 0;
/** Nobody else's, so that every process of this user is one that the test is to blame for. */
const UID = isRoot ? 1_500_000 + process.pid : (process.getuid?.() ?? 0);
const TUN = '/dev/net/tun';

export class OrdinaryUser implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'kubevirt-ts-user-'));
  readonly home = join(this.#folder, 'home');
  readonly #path: string;

  /** With the Node that runs the tests on PATH, unless there is to be another. */
  constructor({ hasNode = true }: { readonly hasNode?: boolean } = {}) {
    execFileSync('chmod', ['0755', this.#folder]);
    mkdirSync(join(this.#folder, 'node'));
    if (hasNode) copyFileSync(process.execPath, join(this.#folder, 'node/node')); // the clone may be where others cannot look
    mkdirSync(this.home);
    if (isRoot) chownSync(this.home, UID, UID);
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
    return pidsOfUser()
      .map(commandOf)
      .filter((command) => command !== '');
  }

  /** Whatever a failed test left. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.processes().length > 0) await this.run('virtctl', ['down', '--purge']);
    for (const pid of pidsOfUser()) process.kill(Number(pid), 'SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #command(program: string, args: readonly string[]): string[] {
    const env = ['env', '-i', `HOME=${this.home}`, `PATH=${this.#path}`, 'NO_COLOR=1', program, ...args];
    if (!isRoot) return env;
    const become = ['setpriv', '--reuid', String(UID), '--regid', String(UID), '--clear-groups', ...env];
    return isTunOpen() ? become : ['unshare', '--mount', 'sh', '-c', WITH_TUN, join(this.#folder, 'tun'), ...become];
  }
}

/** Debian lets everybody make such devices. Where the machine does not, the user sees another device file, in mounts of their own. */
const WITH_TUN = `[ -e "$0" ] || { mknod "$0" c 10 200 && chmod 666 "$0"; }; mount --bind "$0" ${TUN} && exec "$@"`;

function isTunOpen(): boolean {
  return (statSync(TUN).mode & 0o006) === 0o006;
}

/** None where the test itself is run by this user. */
function pidsOfUser(): string[] {
  if (!isRoot) return [];
  return readdirSync('/proc').filter((entry) => /^\d+$/.test(entry) && statSync(`/proc/${entry}`, { throwIfNoEntry: false })?.uid === UID);
}

/** Empty for one that has ended. */
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}
