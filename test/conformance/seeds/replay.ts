/** Replays a transcript with real programs on any cluster: what it needs to know of one is a kubeconfig and where its tools are. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { matchOutput, type Names } from './match-output.ts';
import { type CommandStep, parseTranscript } from './parse-transcript.ts';

export type SessionCluster = {
  readonly kubeconfig: string;
  /** A PATH on which the session finds `kubectl` and `virtctl`. */
  readonly path: string;
};

/** Commands see as variables what placeholders with names stood for, and as `$API` an address that serves the API without certificates. */
type Session = { readonly folder: string; readonly env: Record<string, string> };
type Printed = { readonly output: string; readonly exitCode: number };

/** No single command takes longer; those that wait for something are repeated instead. */
const COMMAND_TIMEOUT_MS = 180_000;
const LOOK_AGAIN_MS = 250;

/** Runs every step; throws at the first command that does not do what the transcript says, with both beside each other. */
export async function replay(path: string, cluster: SessionCluster): Promise<void> {
  const steps = parseTranscript(readFileSync(path, 'utf8'));
  const folder = mkdtempSync(join(tmpdir(), 'transcript-'));
  const env: Record<string, string> = {
    PATH: cluster.path,
    HOME: folder,
    KUBECONFIG: cluster.kubeconfig,
    NO_COLOR: '1',
    LC_ALL: 'C.UTF-8',
  };
  let proxy: ChildProcess | undefined;
  try {
    if (steps.some((step) => step.do === 'run' && step.command.includes('$API'))) {
      proxy = spawn('kubectl', ['proxy', '--port=0'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
      env['API'] = `http://${await addressOf(proxy)}`;
    }
    let names: Names = {};
    for (const step of steps) {
      if (step.do === 'write') writeFileSync(join(folder, step.name), step.content);
      else names = await perform(step, { session: { folder, env: { ...env, ...names } }, names, transcript: basename(path) });
    }
  } finally {
    proxy?.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Performance = { readonly session: Session; readonly names: Names; readonly transcript: string };

async function perform(step: CommandStep, { session, names, transcript }: Performance): Promise<Names> {
  const giveUpAt = performance.now() + (step.withinMs ?? 0);
  for (let tries = 1; ; tries++) {
    const { output, exitCode } = await run(step.command, session);
    const match = matchOutput(step.expected, output, names);
    if (match.isMatch && exitCode === step.exitCode) return match.names;
    if (performance.now() < giveUpAt) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
      continue;
    }
    const how = step.withinMs === undefined ? '' : `, tried ${tries} times within ${step.withinMs / 1000}s`;
    const difference = match.isMatch ? output : `${match.difference}\n  (- expected, + printed, . skipped)`;
    const code = exitCode === step.exitCode ? '' : `\n  it left with ${exitCode}, not with ${step.exitCode}`;
    throw new Error(`${transcript}:${step.line}: not what the transcript says${how}\n$ ${step.command}\n${difference}${code}`);
  }
}

/** What a person would see: both streams in one. */
function run(command: string, { folder, env }: Session): Promise<Printed> {
  return new Promise((done) => {
    const options = { cwd: folder, env, timeout: COMMAND_TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 };
    const child = execFile('bash', ['-c', `exec 2>&1\n${command}`], options, (error, output) => {
      done({ output, exitCode: typeof error?.code === 'number' ? error.code : error ? 1 : 0 });
    });
    child.stdin?.end();
  });
}

/** `kubectl proxy` says where it serves in its first line. */
function addressOf(proxy: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    proxy.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8');
      const address = /Starting to serve on (\S+)\n/.exec(said)?.[1];
      if (address) resolve(address);
    });
    proxy.once('error', reject);
    proxy.once('exit', (code) => reject(new Error(`kubectl proxy left with ${code}: ${said}`)));
  });
}
