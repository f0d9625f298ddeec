/**
 * Who we are, as a program says (`users[].user.exec`, as EKS, GKE, AKS and OIDC logins have it): it is called without a shell, prints an
 * ExecCredential, and is asked again when that has expired or the server refuses it.
 */
import { spawn } from 'node:child_process';
import { dirname, isAbsolute, join } from 'node:path';
import { type Clock, systemClock } from '../../base/clock.ts';
import { messageOf, UserError } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';

export type Identity = { readonly token?: string; readonly cert?: string; readonly key?: string };

/** Asked before each request; what it says is kept for as long as it is good. */
export type Login = {
  identity(): Promise<Identity>;
  /** The server did not take this one: the next question goes to the program. */
  refused(identity: Identity): void;
};

export type ExecLoginOptions = {
  /** Of the kubeconfig. */
  readonly exec: JsonObject;
  /** The file that says it: a relative command is beside it. */
  readonly path: string;
  /** What `provideClusterInfo` tells. */
  readonly cluster: JsonObject;
  readonly env?: NodeJS.ProcessEnv;
  readonly clock?: Clock;
  readonly isTerminal?: boolean;
  readonly patienceMs?: number;
};

const GROUP = 'client.authentication.k8s.io';
const VERSIONS = [`${GROUP}/v1`, `${GROUP}/v1beta1`];
const MODES = ['Never', 'IfAvailable', 'Always'];
/** Somebody may have to log in with a browser meanwhile. */
const PATIENCE_MS = 5 * 60_000;
/** A token and a chain of certificates are some kilobytes. */
const MOST_BYTES = 256 * 1024;

type Plan = {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly isInteractive: boolean;
  readonly fix: string;
  readonly patienceMs: number;
};
type Credential = { readonly identity: Identity; readonly expiresAt: number | undefined };

/** Nothing is called before the first question. Throws for an entry that cannot be followed. */
export function execLogin(options: ExecLoginOptions): Login {
  const { clock = systemClock } = options;
  const plan = planOf(options);
  let known: Promise<Credential> | undefined;
  let identity: Identity | undefined;

  async function ask(): Promise<Credential> {
    const credential = parseCredential(plan, await outputOf(plan));
    identity = credential.identity;
    return credential;
  }

  return {
    async identity() {
      const seen = known;
      const { expiresAt } = (await seen) ?? {};
      if (expiresAt !== undefined && clock.now() >= expiresAt && known === seen) known = undefined; // of several, the first one asks
      if (known === undefined) {
        const asked = ask();
        known = asked;
        asked.catch(() => {
          if (known === asked) known = undefined; // the next request asks again
        });
      }
      return (await known).identity;
    },
    refused(one) {
      if (one !== identity) return; // somebody was faster
      identity = undefined;
      known = undefined;
    },
  };
}

function planOf({ exec, path, cluster, env = process.env, isTerminal, patienceMs = PATIENCE_MS }: ExecLoginOptions): Plan {
  const apiVersion = textOf(exec['apiVersion']);
  const command = textOf(exec['command']);
  const mode = textOf(exec['interactiveMode']) || 'IfAvailable';
  if (!VERSIONS.includes(apiVersion)) throw invalid(path, `exec.apiVersion ${apiVersion || '(none)'} is not one of ${VERSIONS.join(', ')}`);
  if (!command) throw invalid(path, 'exec.command is missing');
  if (!MODES.includes(mode)) throw invalid(path, `exec.interactiveMode ${mode} is not one of ${MODES.join(', ')}`);
  const hint = textOf(exec['installHint']);
  const isInteractive = mode !== 'Never' && (isTerminal ?? process.stdin.isTTY === true);
  if (mode === 'Always' && !isInteractive)
    throw new UserError('LOGIN_FAILED', `${command} has to ask you something before it says who you are, and there is no terminal`, {
      fix: 'run this at a terminal, or use a context with a token',
      exitCode: 6,
    });
  const info = {
    apiVersion,
    kind: 'ExecCredential',
    spec: { ...(exec['provideClusterInfo'] === true && { cluster }), interactive: isInteractive },
  };
  return {
    apiVersion,
    // As a shell finds it, but for what has a slash: that is beside the file, not beside whoever calls.
    command: command.includes('/') && !isAbsolute(command) ? join(dirname(path), command) : command,
    args: listOf(exec['args']).map(String),
    env: { ...env, ...variablesOf(exec['env']), KUBERNETES_EXEC_INFO: JSON.stringify(info) },
    isInteractive,
    fix: hint || `call ${command} as the kubeconfig has it, to see what it says`,
    patienceMs,
  };
}

/** What it says to people goes to them. */
function outputOf(plan: Plan): Promise<string> {
  const { command, args, env, isInteractive, patienceMs } = plan;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: [isInteractive ? 'inherit' : 'ignore', 'pipe', 'inherit'] });
    const chunks: Buffer[] = [];
    let size = 0;
    const giveUp = (why: string) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      child.stdout?.destroy(); // its own children may hold the other end
      reject(failed(plan, why));
    };
    const timer = setTimeout(() => giveUp(`it did not end within ${patienceMs / 1000} s`), patienceMs);
    child.stdout?.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MOST_BYTES) giveUp(`it printed more than ${MOST_BYTES} bytes`);
      else chunks.push(chunk);
    });
    child.once('error', (error: NodeJS.ErrnoException) => giveUp(error.code === 'ENOENT' ? 'there is no such program' : messageOf(error)));
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve(Buffer.concat(chunks).toString());
      else reject(failed(plan, signal ? `it was ended by ${signal}` : `it ended with code ${code}`));
    });
  });
}

/** The text may hold a secret: no error quotes it. */
function parseCredential(plan: Plan, text: string): Credential {
  const credential = parse(text);
  if (!isObject(credential) || credential['kind'] !== 'ExecCredential') throw failed(plan, 'it printed no ExecCredential');
  if (credential['apiVersion'] !== plan.apiVersion)
    throw failed(plan, `it answered in ${textOf(credential['apiVersion']) || 'no version'}, asked for was ${plan.apiVersion}`);
  const status = isObject(credential['status']) ? credential['status'] : {};
  const [token, cert, key] = ['token', 'clientCertificateData', 'clientKeyData'].map((name) => textOf(status[name]));
  if (!token && !cert && !key) throw failed(plan, 'it said neither a token nor a client certificate');
  if (!cert !== !key) throw failed(plan, 'it said only one of certificate and key');
  const until = status['expirationTimestamp'];
  const expiresAt = until === undefined || until === null ? undefined : Date.parse(String(until));
  if (Number.isNaN(expiresAt)) throw failed(plan, 'its expirationTimestamp is no date');
  return { identity: { ...(token && { token }), ...(cert && key && { cert, key }) }, expiresAt };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function variablesOf(list: unknown): NodeJS.ProcessEnv {
  const entries = listOf(list).filter(isObject);
  return Object.fromEntries(entries.map(({ name, value }) => [String(name), String(value ?? '')]));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function failed({ command, fix }: Plan, why: string): UserError {
  return new UserError('LOGIN_FAILED', `${command}, which the kubeconfig names, did not say who you are`, { why, fix, exitCode: 6 });
}

function invalid(path: string, why: string): UserError {
  return new UserError('KUBECONFIG_INVALID', `Cannot use the kubeconfig ${path}`, {
    why,
    fix: 'write the entry anew with the tool of your provider',
  });
}
