/** The commands of KubeVirt's own virtctl that stay open, used as a person would: a console at a terminal, ports, the screen. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { systemClock } from '../../../src/base/clock.ts';
import { freePorts } from '../../../tools/kubernetes/api-server.ts';
import { ConsoleSession } from '../../e2e/harness.ts';
import type { SessionCluster } from '../seeds/replay.ts';

const CTRL_RIGHT_BRACKET = '\x1d';
const WAIT_MS = 120_000;

/** Waits for the instance, logs in at a terminal, runs a command, and leaves as the greeting says. */
export async function useConsole(cluster: SessionCluster, name: string): Promise<void> {
  const child = spawn('script', ['-qfec', `virtctl console ${name}`, '/dev/null'], { env: environment(cluster) });
  await using console = new ConsoleSession(child);
  await console.expect(/Successfully connected to \S+ console\. Press Ctrl\+\] or Ctrl\+5 to exit console\./, WAIT_MS);
  await console.login();
  assert.equal(await console.command('echo $((6 * 7))'), '42');
  console.type('exit\n');
  await console.expect(/login: $/);
  const ended = once(child, 'exit', { signal: AbortSignal.timeout(WAIT_MS) });
  console.type(CTRL_RIGHT_BRACKET);
  assert.deepEqual(await ended, [0, null]);
}

/** The page of the guest's web server, many times at once through one forwarded port. */
export async function usePortForward(cluster: SessionCluster, target: string): Promise<void> {
  const [port = 0] = await freePorts(1);
  await using forward = new Running(cluster, ['port-forward', target, `${port}:80`]);
  await forward.says(/forwarding tcp 127\.0\.0\.1:\d+ to 80/);
  await untilItListens(port);
  const pages = await Promise.all(
    Array.from({ length: 8 }, () => fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(WAIT_MS) })),
  );
  for (const page of pages) assert.match(await page.text(), /Hello from a virtual machine/);
}

/** The greeting of the VNC server, through the port that is told as JSON. */
export async function useScreen(cluster: SessionCluster, name: string): Promise<void> {
  await using screen = new Running(cluster, ['vnc', name, '--proxy-only']);
  const [, port] = await screen.says(/\{"port":(\d+)\}/);
  const socket = connect(Number(port), '127.0.0.1');
  const [greeting] = await once(socket, 'data', { signal: AbortSignal.timeout(WAIT_MS) });
  assert.match(String(greeting), /^RFB 003\.\d{3}\n$/);
  socket.destroy();
}

function environment({ kubeconfig, path }: SessionCluster): NodeJS.ProcessEnv {
  return { ...process.env, PATH: path, KUBECONFIG: kubeconfig, TERM: 'dumb' };
}

/** A virtctl that runs until it is no longer needed. */
class Running implements AsyncDisposable {
  readonly #child: ChildProcess;
  #said = '';

  constructor(cluster: SessionCluster, args: readonly string[]) {
    this.#child = spawn('virtctl', [...args], { env: environment(cluster), stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        this.#said += chunk.toString('utf8');
        this.#child.emit('said');
      });
    this.#child.on('exit', () => this.#child.emit('said'));
  }

  async says(pattern: RegExp): Promise<RegExpExecArray> {
    const signal = AbortSignal.timeout(WAIT_MS);
    while (true) {
      const match = pattern.exec(this.#said);
      if (match) return match;
      if (this.#child.exitCode !== null) throw new Error(`virtctl left with ${this.#child.exitCode} instead of ${pattern}:\n${this.#said}`);
      await once(this.#child, 'said', { signal });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGINT');
    await ended;
  }
}

/** virtctl says that it forwards a moment before it listens. */
async function untilItListens(port: number): Promise<void> {
  const signal = AbortSignal.timeout(WAIT_MS);
  while (true) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect', { signal });
      return;
    } catch (error) {
      if (signal.aborted) throw error;
    } finally {
      socket.destroy();
    }
    await systemClock.sleep(50);
  }
}
