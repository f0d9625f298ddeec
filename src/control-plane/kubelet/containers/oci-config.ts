/** What crun is told of one container: the runtime specification's config.json. Pure. */
import type { Container, Pod, SecurityContext } from '../../../api/core/pod.ts';
import type { RunConfig } from '../../../images/run-config.ts';
import type { ContainerUser } from './container-user.ts';
import { securityOf } from './security-of.ts';

export type Mount = { readonly source: string; readonly destination: string; readonly isReadOnly: boolean };
export type ConfigOptions = {
  readonly pod: Pod;
  readonly container: Container;
  readonly image: RunConfig;
  readonly user: ContainerUser;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly hostname: string;
  readonly mounts: readonly Mount[];
  /** The namespaces of the Pod are those of this process. */
  readonly holderPid: number;
  /** The process namespace that it joins, as a path; it has its own when there is none. */
  readonly processNamespace?: string | undefined;
  /** Only one user exists; one that is not root is made by a user namespace of its own. */
  readonly hasOneUser: boolean;
  /**
   * Of one user of a Pod, threads counted: the kernel counts them by user namespace, and each Pod has its own. Without it, one container that
   * forks without end would leave no process to anybody on the machine.
   */
  readonly maxProcesses: number;
};

/** Harmless inside of a user namespace and asked for by ordinary images; granted by name only, to root, as all are dropped first. */
const GRANTABLE = new Set([
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'SETGID',
  'SETUID',
  'SETPCAP',
  'NET_BIND_SERVICE',
  'SYS_CHROOT',
  'SETFCAP',
  'AUDIT_WRITE',
]);
/** What root of a container may do when its spec drops nothing: be the users of its image and bind low ports. */
const DEFAULT_CAPABILITIES = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'SETGID', 'SETUID', 'NET_BIND_SERVICE'];
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const MASKED = [
  '/proc/acpi',
  '/proc/asound',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
];
const READ_ONLY = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];
/** Refused to every container: ways to the kernel that no ordinary program needs, and user namespaces of its own. */
const REFUSED_CALLS = [
  'add_key',
  'bpf',
  'delete_module',
  'finit_module',
  'init_module',
  'ioperm',
  'iopl',
  'kexec_file_load',
  'kexec_load',
  'keyctl',
  'mount',
  'mount_setattr',
  'move_mount',
  'fsconfig',
  'fsmount',
  'fsopen',
  'fspick',
  'open_tree',
  'open_by_handle_at',
  'perf_event_open',
  'pivot_root',
  'quotactl',
  'reboot',
  'request_key',
  'setns',
  'swapoff',
  'swapon',
  'syslog',
  'umount',
  'umount2',
  'unshare',
  'userfaultfd',
  'uselib',
  'vhangup',
];

/** The whole file. */
export function ociConfigOf(options: ConfigOptions): object {
  const { pod, container, user, args, env, hostname, holderPid, processNamespace } = options;
  const context = securityOf(pod, container);
  const hasOwnUsers = options.hasOneUser && user.uid !== 0;
  return {
    ociVersion: '1.0.2',
    hostname,
    process: {
      terminal: container.tty === true,
      user: { uid: user.uid, gid: user.gid, ...(!options.hasOneUser && { additionalGids: user.groups }), umask: 0o022 },
      args,
      env: Object.entries({ PATH: DEFAULT_PATH, ...(container.tty && { TERM: 'xterm' }), ...env }).map(
        ([name, value]) => `${name}=${value}`,
      ),
      cwd: container.workingDir || options.image.WorkingDir || '/',
      capabilities: capabilitiesOf(context, user, grantableTo(pod, container)),
      noNewPrivileges: true,
      oomScoreAdj: undefined,
      rlimits: [{ type: 'RLIMIT_NPROC', soft: options.maxProcesses, hard: options.maxProcesses }],
    },
    root: { path: 'root', readonly: context.readOnlyRootFilesystem === true },
    mounts: [...SYSTEM_MOUNTS, ...options.mounts.map(bindOf)],
    linux: {
      namespaces: [
        { type: 'pid', ...(processNamespace && { path: processNamespace }) },
        { type: 'mount' },
        { type: 'uts', ...(processNamespace && !hasOwnUsers && { path: '/proc/self/ns/uts' }) }, // by that of the shell around it the processes that it leaves are known
        { type: 'cgroup' },
        { type: 'network', path: `/proc/${holderPid}/ns/net` },
        { type: 'ipc', path: `/proc/${holderPid}/ns/ipc` },
        ...(hasOwnUsers ? [{ type: 'user' }] : []),
      ],
      ...(hasOwnUsers && {
        uidMappings: [{ containerID: user.uid, hostID: 0, size: 1 }],
        gidMappings: [{ containerID: user.gid, hostID: 0, size: 1 }],
      }),
      maskedPaths: MASKED,
      readonlyPaths: READ_ONLY,
      seccomp: context.seccompProfile?.type === 'Unconfined' ? undefined : SECCOMP,
    },
  };
}

const CLONE_NEWUSER = 0x1000_0000;
const [EPERM, ENOSYS] = [1, 38];
const SECCOMP = {
  defaultAction: 'SCMP_ACT_ALLOW',
  architectures: ['SCMP_ARCH_X86_64', 'SCMP_ARCH_X86', 'SCMP_ARCH_AARCH64', 'SCMP_ARCH_ARM'],
  syscalls: [
    { names: REFUSED_CALLS, action: 'SCMP_ACT_ERRNO', errnoRet: EPERM },
    {
      names: ['clone'],
      action: 'SCMP_ACT_ERRNO',
      errnoRet: EPERM,
      args: [{ index: 0, value: CLONE_NEWUSER, valueTwo: CLONE_NEWUSER, op: 'SCMP_CMP_MASKED_EQ' }],
    },
    // Its flags are in memory, where nobody can look at them; every libc then takes clone.
    { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
  ],
};

const SYSTEM_MOUNTS = [
  { destination: '/proc', type: 'proc', source: 'proc', options: ['nosuid', 'noexec', 'nodev'] },
  { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'strictatime', 'mode=755', 'size=65536k'] },
  { destination: '/dev/pts', type: 'devpts', source: 'devpts', options: ['nosuid', 'noexec', 'newinstance', 'ptmxmode=0666', 'mode=0620'] },
  { destination: '/dev/shm', type: 'tmpfs', source: 'shm', options: ['nosuid', 'noexec', 'nodev', 'mode=1777', 'size=65536k'] },
];

function bindOf({ source, destination, isReadOnly }: Mount): object {
  return { destination, type: 'bind', source, options: ['rbind', 'nosuid', 'nodev', ...(isReadOnly ? ['ro'] : ['rw'])] };
}

/**
 * A debugger looks into processes: it sees those of one container only. Where a whole Pod shares them, they include one that holds the
 * namespaces of the Pod and has the files of the host before it.
 */
function grantableTo({ spec }: Pod, { name }: Container): ReadonlySet<string> {
  const isEphemeral = !spec.shareProcessNamespace && spec.ephemeralContainers?.some((each) => each.name === name);
  return isEphemeral ? new Set([...GRANTABLE, 'SYS_PTRACE']) : GRANTABLE;
}

function capabilitiesOf({ capabilities = {} }: SecurityContext, { uid }: ContainerUser, grantable: ReadonlySet<string>): object {
  const plain = (names: readonly string[] = []) => names.map((name) => name.toUpperCase().replace(/^CAP_/, ''));
  const dropped = new Set(plain(capabilities.drop));
  const added = plain(capabilities.add).filter((name) => grantable.has(name));
  const kept = dropped.has('ALL') ? [] : DEFAULT_CAPABILITIES.filter((name) => !dropped.has(name));
  const names = [...new Set([...kept, ...added])].map((name) => `CAP_${name}`);
  // Other users have none of their own: what they could get back by a program with set-id bits is kept from them, too.
  const effective = uid === 0 ? names : added.map((name) => `CAP_${name}`);
  return { bounding: names, effective, permitted: effective, inheritable: [], ambient: uid === 0 ? [] : effective };
}

/** Capabilities that a container asks for and cannot have. */
export function refusedCapabilities(pod: Pod, container: Container): string[] {
  const grantable = grantableTo(pod, container);
  const { capabilities } = securityOf(pod, container);
  return (capabilities?.add ?? []).filter((name) => !grantable.has(name.toUpperCase().replace(/^CAP_/, '')));
}
