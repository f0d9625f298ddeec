/**
 * Starts a program with mounts and processes of its own: some folders are empty to it, it sees no process but itself, and it has no
 * capabilities and no way to get any. Two small programs of the system stay beside it: one is the first process of its namespace, which takes
 * everything with it when it ends, the other hands on the exit code, 128 and the number of the signal when it was killed.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export type Isolation = {
  /** Where the program works; it stays there, though the way to it may be hidden. */
  readonly folder: string;
  /** From the inside out: a folder that is within another one comes first. */
  readonly hidden: readonly string[];
  /** Whom it runs as; left out when that is who we are, and then namespaces of users are what makes it possible. */
  readonly user?: { readonly uid: number; readonly gid: number; readonly groups: readonly number[] } | undefined;
};

/** A shell gives an empty input to what it starts beside itself: QEMU may read the memory of its guest there. What comes out of the folder by `..` meets the empty ones as well, because those are mounted where it comes by. */
const SCRIPT = `
PATH=/usr/sbin:/usr/bin:/sbin:/bin
cd "$0" || exit 125
count=$1; shift
while [ "$count" -gt 0 ]; do
  mount -t tmpfs -o ro,nosuid,nodev,noexec,size=4k,nr_inodes=1,mode=0555 none "$1" || exit 125
  shift; count=$((count - 1))
done
mount -t proc -o nosuid,nodev,noexec proc /proc || exit 125
exec 3<&0
"$@" <&3 3<&- &
cd / && wait $!`;
/** With full paths: the first of them runs as root where we are root. */
const UNSHARE = '/usr/bin/unshare';
const SETPRIV = '/usr/bin/setpriv';
const PATIENCE_MS = 10_000;

/** The command that starts this one so. */
export function isolatedCommand(command: readonly string[], { folder, hidden, user }: Isolation): string[] {
  const become = user
    ? ['--reuid', `${user.uid}`, '--regid', `${user.gid}`, '--groups', [user.gid, ...user.groups].join(',')]
    : ['--ambient-caps=-all'];
  return [
    UNSHARE,
    ...(user ? [] : ['--user', '--map-current-user', '--keep-caps']),
    ...['--mount', '--pid', '--fork', '--kill-child', '--', '/bin/sh', '-c', SCRIPT, folder, `${hidden.length}`, ...hidden],
    ...[SETPRIV, ...become, '--inh-caps=-all', '--bounding-set=-all', '--no-new-privs', '--'],
    ...command,
  ];
}

/** Why it cannot be done here; undefined when it can. */
export async function whyNotIsolated(): Promise<string | undefined> {
  const ids = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, groups: [] };
  const [program = '', ...args] = isolatedCommand(['/bin/true'], {
    folder: '/',
    hidden: ['/tmp'],
    user: ids.uid === 0 ? ids : undefined,
  });
  try {
    await promisify(execFile)(program, args, { timeout: PATIENCE_MS, cwd: '/', env: {} });
    return undefined;
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string }; // what execFile rejects with
    return (stderr || message).trim().split('\n')[0];
  }
}
