/**
 * Starting a cluster with the machine, without a login: a unit of the system for root's, one of the user's own for everybody else's, which
 * lingers, so that it runs while nobody is logged in. Where systemd does not run, the line for cron is told instead.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { ACCELERATOR_VARIABLE } from '../../api/launcher/variables.ts';
import { messageOf, UserError } from '../../base/errors.ts';
import { sha1 } from '../../base/sha1.ts';
import { bootUnit } from './boot-unit.ts';

export type BootOptions = {
  readonly home: string;
  readonly program: string;
  /** Of the Node that runs us. */
  readonly node: string;
  readonly env: NodeJS.ProcessEnv;
};
/** The parts of the machine that are touched. */
export type BootHost = {
  readonly isRoot: boolean;
  readonly hasSystemd: boolean;
  readonly unitFolder: string;
  call(program: string, args: readonly string[]): void;
};
/** The line is for a crontab, to be copied as one. */
type Told = string | { readonly warning: string; readonly cronLine: string };

const PATIENCE_MS = 30_000;
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** What of the environment decides which cluster it is, and how its guests run. */
const KEPT = ['VIRT_HOME', 'KUBEVIRT_CACHE', ACCELERATOR_VARIABLE, 'XDG_DATA_HOME', 'XDG_CACHE_HOME'];

/** The machine that this program runs on. */
export function thisBootHost({ env }: { readonly env: NodeJS.ProcessEnv }): BootHost {
  const isRoot = process.getuid?.() === 0;
  const config = env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config');
  return {
    isRoot,
    hasSystemd: existsSync('/run/systemd/system'), // where systemd is the first process, as sd_booted(3) looks
    unitFolder: isRoot ? '/etc/systemd/system' : join(config, 'systemd/user'),
    call: (program, args) => execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: PATIENCE_MS }),
  };
}

/** From now on the cluster starts with the machine; a line about how. */
export function startAtBoot(options: BootOptions, host: BootHost): Told {
  const env = keptOf(options);
  if (!host.hasSystemd) return { warning: 'systemd does not run here: cron can start it, see below', cronLine: cronLine(options, env) };
  const path = unitPath(options, host);
  const unit = nameOf(options);
  const text = bootUnit({ program: options.program, env, isSystem: host.isRoot });
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o644 });
    systemctl(host, 'daemon-reload');
    systemctl(host, 'enable', unit);
    if (!host.isRoot) host.call('loginctl', ['enable-linger']);
  } catch (error) {
    rmSync(path, { force: true });
    throw new UserError('NOT_AT_BOOT', 'the cluster cannot be started with the machine', {
      why: messageOf(error),
      fix: host.isRoot ? `systemctl status ${unit}` : 'ask an administrator for: loginctl enable-linger, for your user',
      cause: error,
    });
  }
  return `starts with the machine: ${path}`;
}

/** It no longer does; undefined when it never did. */
export function noLongerAtBoot(options: Pick<BootOptions, 'home'>, host: BootHost): string | undefined {
  const path = unitPath(options, host);
  if (!existsSync(path)) return undefined;
  try {
    if (host.hasSystemd) systemctl(host, 'disable', nameOf(options));
  } finally {
    rmSync(path, { force: true });
  }
  if (host.hasSystemd) systemctl(host, 'daemon-reload');
  return `no longer starts with the machine: ${path} removed`;
}

/** One for each data folder, so that several clusters of a user do not take each other's. */
function nameOf({ home }: Pick<BootOptions, 'home'>): string {
  return `kubevirt-ts-${Buffer.from(sha1(new TextEncoder().encode(home))).toString('hex', 0, 4)}.service`;
}

function unitPath(options: Pick<BootOptions, 'home'>, { unitFolder }: BootHost): string {
  return join(unitFolder, nameOf(options));
}

function systemctl({ isRoot, call }: BootHost, ...args: string[]): void {
  call('systemctl', [...(isRoot ? [] : ['--user']), ...args]);
}

function keptOf({ env, home, node }: BootOptions): Record<string, string> {
  const kept = KEPT.flatMap((name) => (env[name] ? [[name, env[name]] as const] : []));
  return { ...Object.fromEntries(kept), HOME: env['HOME'] ?? '', VIRT_HOME: home, PATH: `${dirname(node)}:${PATH}` };
}

function cronLine({ program }: BootOptions, env: Readonly<Record<string, string>>): string {
  const words = [...Object.entries(env).map(([name, value]) => `${name}=${value}`), program, 'up'];
  return `@reboot env ${words.map((word) => (/^[\w./@:+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ')}`;
}
