/** A fresh Debian 12 as a machine of its own, with a person who is not root; it is there for one test, and nothing of it is left. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ensureFreshDebian } from '../../tools/fresh-debian/ensure-root.ts';
import { ConsoleSession, type Result, run } from '../e2e/harness.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
const USER = 'me';
const HOME = `/home/${USER}`;
const PATH = `${HOME}/.local/bin:/usr/local/bin:/usr/bin:/bin`;

export class FreshDebian implements AsyncDisposable {
  readonly home = HOME;
  readonly #work: string;
  readonly #room: ReturnType<typeof spawn>;
  readonly #first: string;

  private constructor(work: string, room: ReturnType<typeof spawn>) {
    this.#work = work;
    this.#room = room;
    this.#first = readFileSync(`/proc/${room.pid}/task/${room.pid}/children`, 'utf8').trim();
  }

  static async start(): Promise<FreshDebian> {
    const root = ensureFreshDebian();
    const work = mkdtempSync(join(tmpdir(), 'fresh-debian-'));
    const own = ['--mount', '--pid', '--net', '--fork', '--kill-child'];
    const room = spawn('unshare', [...own, join(PROJECT, 'tools/fresh-debian/room.sh'), root, work], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = await Promise.race([once(room.stdout, 'data'), once(room, 'exit')]);
    if (String(said) !== 'ready\n') {
      rmSync(work, { recursive: true, force: true });
      throw new Error(`no machine can be made of ${root}: ${said}`);
    }
    const machine = new FreshDebian(work, room);
    machine.asRoot('useradd', ['--create-home', '--shell', '/bin/bash', USER]);
    return machine;
  }

  /** Runs a program of the machine as root. */
  asRoot(program: string, args: readonly string[], input?: Buffer): string {
    return execFileSync('nsenter', [...this.#enter(), 'env', '-C', '/', program, ...args], { input: input ?? '', encoding: 'utf8' });
  }

  /** Puts a file of ours onto the machine. */
  put(from: string, to: string): void {
    this.asRoot('sh', ['-c', 'mkdir -p "$(dirname "$1")" && cat > "$1"', 'sh', to], readFileSync(from));
  }

  /** Runs a program as the person to its end. */
  run(program: string, args: readonly string[], timeoutMs = 600_000): Promise<Result> {
    return run('nsenter', [...this.#enter(), ...AS_USER, program, ...args], { timeoutMs });
  }

  async must(program: string, args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(program, args);
    if (code !== 0) throw new Error(`${program} ${args.join(' ')} left with ${code}\n${stdout}${stderr}`);
    return stdout;
  }

  session(program: string, args: readonly string[]): ConsoleSession {
    return new ConsoleSession(spawn('nsenter', [...this.#enter(), ...AS_USER, program, ...args]));
  }

  /** Serves the files of a folder of ours on the loopback of the machine. */
  async serve(folder: string, port: number): Promise<AsyncDisposable> {
    const script = join(PROJECT, 'test/e2e/folder-server.ts');
    const args = ['-t', this.#first, '--net', process.execPath, script, folder, String(port)];
    const session = new ConsoleSession(spawn('nsenter', args));
    await session.expect(/ready/);
    return session;
  }

  /** Whatever runs beside the first process of the machine, and the one that looks. */
  processes(): string[] {
    const script = 'for each in /proc/[0-9]*; do [ "$each" = "/proc/$$" ] || tr "\\0" " " < "$each/cmdline"; echo; done';
    const lines = this.asRoot('sh', ['-c', script]).split('\n');
    return lines.map((line) => line.trim()).filter((line) => !['', 'sleep infinity'].includes(line));
  }

  mounts(): string[] {
    return this.asRoot('cat', ['/proc/1/mounts']).trim().split('\n');
  }

  /** Every file and folder below the home folder. */
  files(): string[] {
    return this.asRoot('find', [HOME, '-mindepth', '1']).trim().split('\n').sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#room.exitCode === null) {
      this.#room.kill('SIGKILL'); // and with its first process, all others of the machine
      await once(this.#room, 'exit');
    }
    rmSync(this.#work, { recursive: true, force: true });
  }

  #enter(): string[] {
    return ['-t', this.#first, '--mount', '--pid', '--net'];
  }
}

const AS_USER = [
  ...['setpriv', '--reuid', '1000', '--regid', '1000', '--init-groups'],
  ...['env', '-i', '-C', HOME, `HOME=${HOME}`, `USER=${USER}`, `PATH=${PATH}`, 'NO_COLOR=1'],
];

/** Why none can be made here. */
export function skipFreshDebian(): string | false {
  return process.getuid?.() !== 0 && 'only root can make a machine out of a folder';
}
