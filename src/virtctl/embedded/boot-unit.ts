/** The systemd unit that starts a cluster with the machine, as text. Pure. */

export type BootUnit = {
  /** What virtctl is called with its full path. */
  readonly program: string;
  /** What the program needs to find its data and its Node, besides what systemd gives it. */
  readonly env?: Readonly<Record<string, string>>;
  /** The whole machine's, which root's cluster is, or one of a user's. */
  readonly isSystem: boolean;
  readonly documentation?: string;
};

/** The guests end with the unit: `down` asks them to, and the machine is about to be switched off. */
export function bootUnit({ program, env = {}, isSystem, documentation }: BootUnit): string {
  const variables = Object.entries(env).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`);
  return [
    '[Unit]',
    `Description=Virtual machines of ${isSystem ? 'root' : 'this user'} (kubevirt-ts)`,
    ...(documentation === undefined ? [] : [`Documentation=${documentation}`]),
    ...(isSystem ? ['Wants=network-online.target', 'After=network-online.target'] : []),
    '',
    '[Service]',
    'Type=oneshot',
    'RemainAfterExit=yes',
    ...variables,
    `ExecStart=${command(program)} up`,
    `ExecStop=${command(program)} down`,
    'TimeoutStartSec=5min',
    'TimeoutStopSec=5min',
    '',
    '[Install]',
    `WantedBy=${isSystem ? 'multi-user' : 'default'}.target`,
    '',
  ].join('\n');
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%')}"`;
}

/** systemd takes other characters in words only, not in the program itself, and a dollar there for a variable. */
function command(path: string): string {
  return /^[\w./@:+,-]+$/.test(path) ? path : `/usr/bin/env ${quoted(path).replaceAll('$', '$$$$')}`;
}
