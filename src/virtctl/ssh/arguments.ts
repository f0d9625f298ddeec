/** The arguments of the OpenSSH programs that `virtctl ssh` and `virtctl scp` become. Pure. */
import { UserError } from '../../base/errors.ts';
import { type ForwardTarget, parseTarget } from '../forward/parse.ts';

export type SshOptions = {
  /** How to call ourselves. */
  readonly program: string;
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly verbosity?: number | undefined;
  readonly namespace: string;
  readonly port: number;
  readonly username?: string | undefined;
  readonly identityFile?: string | undefined;
  /** True when what ssh would try by itself is tried after it. */
  readonly triesOwnKeys?: boolean | undefined;
  readonly knownHosts?: string | undefined;
  /** The guest at the other end is the one that the API names: the key of the host has nothing to add, and a guest that is made again, or boots from memory, changes it. */
  readonly trustsApi?: boolean | undefined;
  /** Handed on as they are. */
  readonly localSshOpts?: readonly string[] | undefined;
};

/** What ssh tries when it is told of no key at all; told of one, it forgets them. Those that are not there are passed over. */
const OWN_KEYS = ['id_rsa', 'id_ecdsa', 'id_ecdsa_sk', 'id_ed25519', 'id_ed25519_sk'];

const NO_HOST_KEYS = ['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'LogLevel=ERROR'];

const WITH_KIND = /^(?:[^@/]+@)?(?:vms?|vmis?|virtualmachines?|virtualmachineinstances?)\/[^:]+$/i;
const NAME_ALONE = /^(?:[^@/-][^@/]*@)?[a-z0-9][a-z0-9.-]*$/;

export type GuestAddress = { readonly user?: string; readonly target: ForwardTarget };
type GuestPath = GuestAddress & { readonly path: string };

/** `[USER@]vm/NAME[/NAMESPACE]`, or the name of an instance alone. */
export function parseGuest(text: string): GuestAddress {
  const at = text.lastIndexOf('@', text.includes('/') ? text.indexOf('/') : undefined);
  const user = at >= 0 ? text.slice(0, at) : undefined;
  if (user === '' || user?.startsWith('-')) throw new UserError('USAGE', `${text} has no user before the @`, { exitCode: 2 });
  return { ...(user !== undefined && { user }), target: parseTarget(text.slice(at + 1)) };
}

/** The arguments of ssh. */
export function sshArguments(to: string, options: SshOptions, command: readonly string[] = []): string[] {
  const guest = parseGuest(to);
  return [...commonArguments(guest.target, options), destination(guest, options), ...command];
}

/** Whether there is such a file here. */
export type IsFile = (path: string) => boolean;
export type ScpOptions = SshOptions & { readonly recursive: boolean; readonly preserve: boolean; readonly isFile: IsFile };

/** The arguments of scp; one of the two is on a guest: `[USER@]NAME:PATH` or `[USER@]vm/NAME[/NAMESPACE]:PATH`. */
export function scpArguments(from: string, to: string, options: ScpOptions): string[] {
  const guest = parseCopy(from, to, options.isFile);
  const remote = `${destination(guest, options)}:${guest.path}`;
  return [
    ...commonArguments(guest.target, options),
    ...(options.recursive ? ['-r'] : []),
    ...(options.preserve ? ['-p'] : []),
    ...(guest.isSource ? [remote, local(to)] : [local(from), remote]),
  ];
}

/** The one of the two that is on a guest. */
export function parseCopy(from: string, to: string, isFile: IsFile): GuestPath & { readonly isSource: boolean } {
  const [source, target] = [parseGuestPath(from, isFile), parseGuestPath(to, isFile)];
  const guest = source ?? target;
  if (!guest || (source && target))
    throw new UserError('USAGE', 'one of the two must be on a guest', {
      why: source ? 'both are' : 'neither is',
      fix: 'virtctl scp file my-vm:/tmp/, or the other way round',
      exitCode: 2,
    });
  return { ...guest, isSource: source !== undefined };
}

/** With a kind it is on a guest; a name alone is, unless that is a file here. As scp itself: what has another slash before its colon is a file here. */
function parseGuestPath(text: string, isFile: IsFile): GuestPath | undefined {
  const colon = text.indexOf(':');
  const guest = colon > 0 ? text.slice(0, colon) : '';
  if (!WITH_KIND.test(guest) && (!NAME_ALONE.test(guest) || isFile(text))) return undefined;
  return { ...parseGuest(guest), path: text.slice(colon + 1) };
}

/** A name that scp would take for another host's, or for an option, is a path here. */
function local(path: string): string {
  return path.startsWith('-') || path.includes(':') ? `./${path}` : path;
}

/** The name under which ssh remembers the key of the host; nothing is looked up, the connection comes from us. */
function destination({ user, target }: GuestAddress, { username, namespace }: SshOptions): string {
  const name = user ?? username;
  const kind = target.resource === 'virtualmachines' ? 'vm' : 'vmi';
  return `${name === undefined ? '' : `${name}@`}${kind}.${target.name}.${target.namespace ?? namespace}`;
}

function commonArguments(
  target: ForwardTarget,
  { program, kubeconfig, context, verbosity, namespace, port, ...options }: SshOptions,
): string[] {
  const kind = target.resource === 'virtualmachines' ? 'vm' : 'vmi';
  const proxy = [
    ...[program, 'port-forward', '--stdio=true'],
    ...(kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig]),
    ...(context === undefined ? [] : ['--context', context]),
    ...(verbosity === undefined ? [] : ['--verbosity', String(verbosity)]),
    ...[`${kind}/${target.name}/${target.namespace ?? namespace}`, String(port)],
  ];
  return [
    ...['-o', `ProxyCommand=${proxy.map(quoted).join(' ')}`],
    ...(options.knownHosts === undefined ? [] : ['-o', `UserKnownHostsFile=${options.knownHosts}`]),
    ...(options.identityFile === undefined ? [] : ['-i', options.identityFile]),
    ...(options.triesOwnKeys ? OWN_KEYS.flatMap((name) => ['-o', `IdentityFile=~/.ssh/${name}`]) : []),
    ...(options.localSshOpts ?? []),
    // Behind what the user says: of two that contradict each other ssh obeys the first.
    ...(options.trustsApi ? NO_HOST_KEYS : []),
  ];
}

/** For the shell that ssh starts; a percent sign is ssh's own. */
function quoted(word: string): string {
  return quotedForShell(word.replaceAll('%', '%%'));
}

/** One word for a shell. */
export function quotedForShell(text: string): string {
  return /^[\w./=%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
