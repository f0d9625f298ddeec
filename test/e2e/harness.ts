/** An embedded cluster of a test's own: driven only through the programs that people use, gone without a trace afterwards. */
import { type ChildProcessWithoutNullStreams, execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { addBusybox, BUSYBOX_IMAGE, skipContainers } from '../../src/control-plane/kubelet/containers/busybox.testing.ts';
import { EMBEDDED_CLUSTERS } from '../../tools/end-lost-clusters.ts';
import { ensureKubectls } from '../../tools/kubectl/fetch.ts';
import { setOwner } from '../../tools/owned-folder.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
const VIRTCTL = join(PROJECT, 'bin/virtctl');
/** Each question is a process: without a pause it takes the processor from the guest that it asks about. */
const BETWEEN_QUESTIONS_MS = 300;

export type Result = { readonly code: number; readonly stdout: string; readonly stderr: string };
export type RunOptions = {
  readonly input?: string;
  /** In addition to ours; undefined takes one of ours away. */
  readonly env?: Record<string, string | undefined>;
  readonly cwd?: string;
  readonly timeoutMs?: number;
};

/** Runs a program to its end; never throws for its exit code. */
export function run(
  program: string,
  args: readonly string[],
  { input, env = {}, cwd, timeoutMs = 240_000 }: RunOptions = {},
): Promise<Result> {
  return new Promise((done) => {
    const options = { cwd, env: { ...process.env, ...env }, timeout: timeoutMs, maxBuffer: 64 * 1024 * 1024 };
    const child = execFile(program, [...args], options, (error, stdout, stderr) => {
      done({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, stdout, stderr });
    });
    child.stdin?.on('error', () => {}); // the program need not read what we say
    child.stdin?.end(input ?? '');
  });
}

export class EmbeddedCluster implements AsyncDisposable {
  readonly home: string;
  /** Where commands work that name none. */
  readonly namespace: string = 'default';
  readonly kubectls = ensureKubectls();
  readonly #env: Record<string, string>;
  /** A folder that is closed to others, as the home folder of root is. */
  readonly #closed = mkdtempSync(join(tmpdir(), EMBEDDED_CLUSTERS));

  constructor() {
    setOwner(this.#closed);
    this.home = join(this.#closed, 'data');
    mkdirSync(this.home, { mode: 0o700 });
    this.#env = {
      VIRT_HOME: this.home,
      KUBECONFIG: join(this.home, 'kubeconfig'),
      KUBECACHEDIR: join(this.home, 'kube-cache'),
      NO_COLOR: '1',
    };
  }

  /**
   * A cluster that is up, without the demo machine; `guests` are built first where they are not in the cache yet. Where
   * `E2E_REAL_CLUSTER` names a real Kubernetes with the product in it, that one: see test/kubernetes/scenarios/e2e.ts.
   */
  static async start({
    guests = [],
    nodes,
  }: {
    readonly guests?: readonly string[];
    readonly nodes?: number;
  } = {}): Promise<EmbeddedCluster> {
    const realCluster = process.env['E2E_REAL_CLUSTER'];
    if (realCluster !== undefined) return (await import('./real-cluster.ts')).RealTestCluster.attach(realCluster);
    for (const guest of guests) {
      execFileSync(process.execPath, ['tools/guest-image/build.ts', guest], { cwd: PROJECT, stdio: ['ignore', 'ignore', 'inherit'] });
    }
    const cluster = new EmbeddedCluster();
    try {
      await cluster.must('virtctl', ['up', ...(nodes ? ['--nodes', String(nodes)] : [])]);
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]().catch(() => {}); // why it did not start is what the test has to say
      throw error;
    }
  }

  /** For programs that a test starts itself. */
  environment(): NodeJS.ProcessEnv {
    return { ...process.env, ...this.#env };
  }

  virtctl(args: readonly string[], options: RunOptions = {}): Promise<Result> {
    return run(VIRTCTL, args, { ...options, env: { ...this.#env, ...options.env } });
  }

  /** A current kubectl. */
  kubectl(args: readonly string[], options: RunOptions = {}): Promise<Result> {
    return run(this.kubectls.current, args, { ...options, env: this.#env });
  }

  /** Debian's kubectl, version 1.20. */
  oldKubectl(args: readonly string[], options: RunOptions = {}): Promise<Result> {
    return run(this.kubectls.debian, ['--cache-dir', join(this.home, 'kube-cache-old'), ...args], { ...options, env: this.#env });
  }

  /** Runs one of the programs and returns what it printed; an exit code other than 0 fails the test with everything it said. */
  async must(program: 'virtctl' | 'kubectl' | 'oldKubectl', args: readonly string[], options: RunOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this[program](args, options);
    if (code !== 0) throw new Error(`${program} ${args.join(' ')} left with ${code}\n${stdout}${stderr}\n${this.#lastLogLines()}`);
    return stdout;
  }

  /** A field of an object, by kubectl's JSONPath without the braces. */
  field(kind: string, name: string, path: string): Promise<string> {
    return this.must('kubectl', ['get', kind, name, '-o', `jsonpath={${path}}`]);
  }

  /** Waits until a field has a value. */
  until(what: string, path: string, value: string, timeoutSeconds = 240): Promise<void> {
    return this.#wait(what, `jsonpath={${path}}=${value}`, timeoutSeconds);
  }

  /** Waits until a condition is true. */
  untilCondition(what: string, condition: string, timeoutSeconds = 240): Promise<void> {
    return this.#wait(what, `condition=${condition}`, timeoutSeconds);
  }

  /** `kubectl wait`, also for an object that somebody is about to make: for one that is not there kubectl does not wait. */
  async #wait(what: string, condition: string, timeoutSeconds: number): Promise<void> {
    const args = ['wait', what, `--for=${condition}`, `--timeout=${timeoutSeconds}s`];
    const deadline = performance.now() + timeoutSeconds * 1000;
    for (;;) {
      const { code, stderr } = await this.kubectl(args, { timeoutMs: (timeoutSeconds + 10) * 1000 });
      if (code === 0) return;
      if (!/NotFound/.test(stderr) || performance.now() > deadline)
        throw new Error(`${args.join(' ')}: ${stderr}\n${this.#lastLogLines()}`);
      await systemClock.sleep(BETWEEN_QUESTIONS_MS);
    }
  }

  /** Until a machine has another instance than this, and is ready: for a moment it looks as it did before. */
  async untilReplaced(name: string, uid: string): Promise<void> {
    const uidNow = async () => (await this.kubectl(['get', 'vmi', name, '-o', 'jsonpath={.metadata.uid}'])).stdout;
    const deadline = performance.now() + 240_000;
    for (let now = await uidNow(); now === uid || now === ''; now = await uidNow()) {
      if (performance.now() > deadline) throw new Error(`${name} has no other instance than ${uid}\n${this.#lastLogLines()}`);
      await systemClock.sleep(BETWEEN_QUESTIONS_MS);
    }
    await this.until(`vm/${name}`, '.status.ready', 'true');
  }

  async untilGone(what: string, timeoutSeconds = 240): Promise<void> {
    await this.must('kubectl', ['wait', what, '--for=delete', `--timeout=${timeoutSeconds}s`], { timeoutMs: (timeoutSeconds + 10) * 1000 });
  }

  /** Where this machine has what is on a PVC. */
  async folderOf(claim: string): Promise<string> {
    await this.until(`pvc/${claim}`, '.status.phase', 'Bound');
    return this.field('pv', await this.field('pvc', claim, '.spec.volumeName'), '.spec.hostPath.path');
  }

  console(name: string): ConsoleSession {
    return new ConsoleSession(spawn(VIRTCTL, ['console', name], { env: { ...process.env, ...this.#env } }));
  }

  async createNamespace(name: string): Promise<void> {
    await this.must('kubectl', ['create', 'namespace', name]);
  }

  /** Guests and Services have addresses: not on a machine that allows no network namespaces. */
  hasNetwork(): boolean {
    return this.#state().network !== 'host';
  }

  /** Pings to addresses outside of the cluster are sent by pasta, on the host. */
  pingsOutside(): boolean {
    const [first = 1, last = 0] = readFileSync('/proc/sys/net/ipv4/ping_group_range', 'utf8').split(/\s+/).map(Number);
    return first <= last;
  }

  /** An image for Pods that are no machines, with the programs of busybox; or why there can be none here. */
  async plainImage(): Promise<{ readonly image: string; readonly skip?: string }> {
    const skip = skipContainers();
    if (skip) return { image: '', skip };
    await addBusybox(join(this.home, 'images'));
    return { image: BUSYBOX_IMAGE };
  }

  /** The process that is the embedded cluster. */
  pid(): number {
    return this.#state().process.pid;
  }

  #state() {
    return JSON.parse(readFileSync(join(this.home, 'run/embedded.json'), 'utf8'));
  }

  /** Processes that work inside our data folder, other than the cluster itself: QEMU, one per guest. */
  guestPids(): number[] {
    return readdirSync('/proc')
      .filter((entry) => /^\d+$/.test(entry))
      .filter((entry) => workingDirectory(entry).startsWith(join(this.home, 'kubelet')))
      .map(Number)
      .sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const pid = existsSync(join(this.home, 'run/embedded.json')) ? this.pid() : undefined;
    const { code, stdout, stderr } = await this.virtctl(['down', '--purge']);
    const leftovers = [...this.guestPids(), ...(code !== 0 && pid ? [pid] : [])];
    for (const leftover of leftovers) process.kill(leftover, 'SIGKILL');
    const log = this.#lastLogLines();
    rmSync(this.#closed, { recursive: true, force: true });
    if (code !== 0 || leftovers.length > 0)
      throw new Error(`virtctl down --purge left ${leftovers.length} processes, exit code ${code}\n${stdout}${stderr}\n${log}`);
  }

  #lastLogLines(): string {
    const path = join(this.home, 'logs/embedded.log');
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(-40).join('\n') : 'no log';
  }
}

function workingDirectory(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return ''; // ended meanwhile, or not ours
  }
}

/** A person at the serial console. */
export class ConsoleSession implements AsyncDisposable {
  readonly #child: ChildProcessWithoutNullStreams;
  #text = '';
  #wake = () => {};

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    const add = (chunk: Buffer) => {
      this.#text += chunk.toString('utf8');
      this.#wake();
    };
    child.stdout.on('data', add);
    child.stderr.on('data', add);
    child.stdin.on('error', () => {});
    child.on('exit', () => this.#wake());
  }

  /** Everything up to and with the match is consumed and returned. */
  async expect(pattern: RegExp, timeoutMs = 240_000): Promise<string> {
    const deadline = AbortSignal.timeout(timeoutMs);
    deadline.addEventListener('abort', () => this.#wake());
    while (true) {
      const match = pattern.exec(this.#text);
      if (match) {
        const end = match.index + match[0].length;
        const seen = this.#text.slice(0, end);
        this.#text = this.#text.slice(end);
        return seen;
      }
      if (deadline.aborted || this.#child.exitCode !== null) {
        throw new Error(
          `${pattern} did not appear on the console (${deadline.aborted ? 'timed out' : `left with ${this.#child.exitCode}`}); seen:\n${this.#text}`,
        );
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  type(text: string): void {
    this.#child.stdin.write(text);
  }

  /** Logs in as root. */
  async login(): Promise<void> {
    this.type('\n');
    await this.expect(/login: $/);
    this.type('root\n');
    await this.expect(/Password: $/);
    this.type('guest\n');
    await this.expect(/# /);
  }

  /** Runs a command in a guest where somebody is logged in, and returns what it printed. */
  async command(command: string): Promise<string> {
    const asks = 'echo "<$?>"';
    this.type(`${command}; ${asks}\n`);
    const lines = (await this.expect(/\r\n<\d+>\r\n/)).split('\r\n');
    const echo = lines.findLastIndex((line) => line.includes(asks)); // twice, when we type before the shell asks
    return lines.slice(Math.max(echo, 0) + 1, -2).join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGTERM');
    if (this.#child.exitCode === null && this.#child.signalCode === null) await new Promise((resolve) => this.#child.once('exit', resolve));
  }
}
