/**
 * Starts what shares folders with the guest: a virtiofsd for each, beside QEMU, as QEMU's user. It has namespaces of users, mounts and processes
 * of its own in which there is nothing but the folder, so neither a link nor a `..` leads out of it; a folder that is only read is mounted so
 * there, whatever the guest asks for. It ends when QEMU does: its one connection is QEMU's.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { VmiSpec } from '../api/kubevirt/vmi-spec-schema.ts';
import { claimOf } from '../api/kubevirt/volumes/source-of.ts';
import { filesystemSocket } from '../api/launcher/files.ts';
import { claimMount } from '../api/launcher/mounts.ts';
import { messageOf, UserError } from '../base/errors.ts';
import { APART_VARIABLE, SANDBOX_VARIABLE, sandboxPath } from '../base/node/sandbox-path.ts';
import { findVirtiofsd } from '../qemu/find-virtiofsd.ts';
import { VIRTIOFSD_FIX } from '../qemu/virtiofsd-fix.ts';
import type { Privileges } from './privileges.ts';
import { sharedFolderAt } from './shared-folder.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type Options = {
  readonly spec: VmiSpec;
  /** Of our own: what the programs say goes there until they serve. */
  readonly folder: string;
  readonly env: Environment;
  readonly privileges: Privileges;
  readonly report: (line: string) => void;
};

const PATIENCE_MS = 20_000;
const LOOK_MS = 5;
/** File descriptors of the program: where QEMU connects, and our standard error. */
const [LISTENING, STDERR] = [3, 4];

/** Numbers of prctl, seccomp and setgroups, and of the architecture. */
const CALLS: Readonly<Partial<Record<NodeJS.Architecture, readonly number[]>>> = {
  x64: [157, 317, 116, 0xc000003e],
  arm64: [167, 277, 159, 0xc00000b7],
};

/**
 * The last step before virtiofsd, for two things that it takes for granted. Its socket must block, and one that Node made does not. And it gives up
 * the groups that it has beside its first one, which nobody may in a namespace that an ordinary user made: this call is answered with success by a
 * seccomp filter, and it keeps the groups of its user, within one folder. In Perl: every Debian has it, and Node makes no system calls.
 */
const BECOME = `
my ($prctl, $seccomp, $setgroups, $architecture, @command) = @ARGV;
$^F = ${LISTENING};
open SOCKET, "+<&=", ${LISTENING} and fcntl SOCKET, 4, 0 or die "socket: $!\n";
my @filter = ([0x20,0,0,4], [0x15,0,3,$architecture], [0x20,0,0,0], [0x15,0,1,$setgroups], [0x06,0,0,0x50000], [0x06,0,0,0x7fff0000]);
my $filter = join "", map { pack "SCCL", @$_ } @filter;
my $program = pack "Sx6P", scalar @filter, $filter;
syscall($prctl + 0, 38, 1, 0, 0, 0) == 0 && syscall($seccomp + 0, 1, 0, $program) == 0 or die "seccomp: $!\n";
open STDERR, ">&", ${STDERR};
exec @command`;

/** The folder is where it starts. A mount of it may only be made stricter, so the words after `remount` are the same whatever it is. */
const SCRIPT = `
PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t tmpfs -o nosuid,nodev,noexec,size=64k,mode=0755 none /run && mkdir /run/folder || exit 125
mount --no-canonicalize --bind . /run/folder || exit 125
mount --no-canonicalize -o "remount,bind,nosuid,nodev,noexec$1" /run/folder || exit 125
cd / && shift && exec perl "$@" "$0" --fd=${LISTENING} -o source=/run/folder -o sandbox=namespace -o log_level=err -o cache=auto -f`;

/** What was begun, for whoever finds that there will be no QEMU. */
export type SharedFolders = { end(): void };

/** Every folder of the instance is served when this returns, at its socket in the folder that we are in. */
export function shareFolders(options: Options): SharedFolders {
  const { spec, report, env, privileges } = options;
  const begun: { readonly child: ChildProcess; readonly socket: string }[] = [];
  const end = () => {
    for (const { child, socket } of begun) {
      child.kill('SIGKILL');
      rmSync(socket, { force: true });
    }
  };
  try {
    for (const [index, { name }] of (spec.domain.devices.filesystems ?? []).entries()) {
      const claim = claimOf(spec.volumes?.find((volume) => volume.name === name) ?? { name });
      if (!claim) throw new UserError('VOLUME_UNSUPPORTED', `the folder ${name} is no PVC`, { why: 'only the folders of PVCs are shared' });
      const isReadOnly = claim.isReadOnly || privileges.asRoot(() => sharedFolderAt(name, env)) === 'shared-folder-read-only';
      serve({ ...options, index, name, isReadOnly }, (child) => begun.push({ child, socket: filesystemSocket(index) }));
      report(`folder ${name}: shared${isReadOnly ? ', read-only' : ''}`);
    }
  } catch (error) {
    end();
    throw error;
  }
  return { end };
}

type Folder = Options & { readonly index: number; readonly name: string; readonly isReadOnly: boolean };

function serve(folder: Folder, onStart: (child: ChildProcess) => void): void {
  const program = findVirtiofsd();
  if (!program)
    throw new UserError('VIRTIOFSD_MISSING', `the folder ${folder.name} cannot be shared`, {
      why: 'virtiofsd is not installed',
      fix: VIRTIOFSD_FIX,
    });
  const said = join(folder.folder, `fs${folder.index}.said`);
  const output = openSync(said, 'wx', 0o600);
  const listening = listen(folder);
  try {
    const child = start(program, folder, { listening, output });
    onStart(child);
    untilServing(child, program, { folder, said });
  } finally {
    closeSync(output);
  }
}

/** Here and not by the program: from where it is, there is no way to the folder of the socket. */
function listen({ index }: Folder): Server {
  const socket = filesystemSocket(index);
  rmSync(socket, { force: true });
  return createServer().listen(socket).unref();
}

type Files = { readonly listening: Server; readonly output: number };

/** Root opens the folder, whatever those above it are closed to; who works in it is QEMU's user, or whose folder it is. */
function start(program: string, { name, env, privileges, isReadOnly }: Folder, { listening, output }: Files): ChildProcess {
  const path = sandboxPath(claimMount(name).mountPath, env);
  const become = becoming(privileges.user, readFileSync('/proc/self/uid_map', 'utf8'));
  const separate = ['/usr/bin/unshare', '--user', '--map-root-user', '--mount', '--'];
  const calls = (CALLS[process.arch] ?? []).map(String);
  const words = [SCRIPT, program, isReadOnly ? ',ro' : '', '-e', BECOME, ...calls];
  const [command = '', ...args] = [...become, ...separate, '/bin/sh', '-c', ...words];
  return privileges.asRoot(() => {
    const here = openFolder(path, name);
    try {
      return spawn(command, args, {
        cwd: `/proc/self/fd/${here}`,
        env: { [SANDBOX_VARIABLE]: env[SANDBOX_VARIABLE], [APART_VARIABLE]: 'virtiofsd' },
        stdio: ['ignore', output, output, fdOf(listening), 2],
      });
    } finally {
      closeSync(here);
    }
  });
}

/**
 * The root of a namespace that an ordinary user made is that user, and the folder is theirs: the guest works in it as they do, without the rights of a
 * root. A root of more is never who works in it.
 */
export function becoming(user: Privileges['user'], uidMap: string): string[] {
  if (!user) return [];
  const [, outside, count] = /^\s*0\s+(\d+)\s+(\d+)$/m.exec(uidMap) ?? [];
  if (outside !== '0' && count === '1')
    return ['/usr/bin/setpriv', '--reuid', '0', '--regid', '0', '--clear-groups', '--inh-caps=-all', '--bounding-set=-all,+setfcap']; // the one that the kernel asks of who names a root in a namespace
  return ['/usr/bin/setpriv', '--reuid', `${user.uid}`, '--regid', `${user.gid}`, '--groups', [user.gid, ...user.groups].join(',')];
}

/** Node hands sockets over to its own programs alone; to others, by their number. */
function fdOf(server: Server): number {
  return (server as Server & { readonly _handle: { readonly fd: number } })._handle.fd; // there since listen() returned
}

function openFolder(path: string, name: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch (error) {
    throw new UserError('VOLUME_MISSING', `the folder ${name} is not mounted`, { why: messageOf(error), cause: error });
  }
}

/** By looking: we become QEMU without ever going back to where an event would be heard. */
function untilServing({ pid }: ChildProcess, program: string, { folder, said }: { folder: Folder; said: string }): void {
  const deadline = Date.now() + PATIENCE_MS;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  while (Date.now() < deadline) {
    const words = wordsOf(pid);
    if (words?.[0] === program) return;
    if (!words) break;
    Atomics.wait(pause, 0, 0, LOOK_MS);
  }
  const why = readFileSync(said, 'utf8').trim().split('\n')[0] || 'virtiofsd did not start';
  throw new UserError('FOLDER_NOT_SHARED', `the folder ${folder.name} cannot be shared`, {
    why,
    fix: `it needs namespaces of users (virtctl doctor), no other mounts below it, and to be open to user ${process.geteuid?.()}`,
  });
}

/** What a process was started as, nothing for a moment while it becomes something else; undefined for one that has ended, though nobody has asked about it. */
function wordsOf(pid: number | undefined): string[] | undefined {
  try {
    const state = /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1];
    return state === 'Z' || state === 'X' ? undefined : readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return undefined;
  }
}
