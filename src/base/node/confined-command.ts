/**
 * Starts a program that has its files open already and needs no others: its file system has what programs are made of, to be read, and nothing else;
 * it sees no process, has no network and no capabilities but to open what it has open. Where the kernel makes such namespaces: a container of Kubernetes is one already.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** A folder that is a link, as /lib is today, stays one. Only root could write to what is mounted, so where it cannot be made read-only nothing is lost. */
const SCRIPT = `
PATH=/usr/sbin:/usr/bin:/sbin:/bin
root=/tmp
cd / && mount -t tmpfs -o nosuid,nodev,size=4m,mode=0755 none "$root" || exit 125
for folder in /usr /bin /sbin /lib /lib32 /lib64 /nix/store /gnu/store; do
  if [ -L "$folder" ]; then
    cp -P "$folder" "$root$folder" || exit 125
  elif [ -d "$folder" ]; then
    mkdir -p "$root$folder" && mount --rbind "$folder" "$root$folder" || exit 125
    mount -o remount,ro,bind "$root$folder" 2>/dev/null
  fi
done
mkdir "$root/proc" "$root/dev" "$root/etc" && mount -t proc -o nosuid,nodev,noexec proc "$root/proc" || exit 125
for file in /dev/null /dev/urandom /etc/ld.so.cache; do
  [ ! -e "$file" ] || { : >"$root$file" && mount --bind "$file" "$root$file"; } || exit 125
done
mount -o remount,ro "$root" || exit 125
exec chroot "$root" setpriv --ambient-caps=-all --inh-caps=-all --bounding-set=-all,+dac_override --no-new-privs -- "$@"`;
const UNSHARE = '/usr/bin/unshare';
const PATIENCE_MS = 10_000;

/** The command that starts this one so. It ends when whoever waits for it is killed. */
export function confinedCommand(command: readonly string[], isRoot = process.getuid?.() === 0): string[] {
  return [
    UNSHARE,
    ...(isRoot ? [] : ['--user', '--map-current-user', '--keep-caps']),
    ...['--mount', '--net', '--pid', '--fork', '--kill-child', '--', '/bin/sh', '-c', SCRIPT, 'sh'],
    ...command,
  ];
}

/** Why this command, which has to be harmless, cannot be run so; undefined when it can. */
export async function whyNotConfined(command: readonly string[]): Promise<string | undefined> {
  const [program = '', ...args] = confinedCommand(command);
  try {
    await promisify(execFile)(program, args, { timeout: PATIENCE_MS, killSignal: 'SIGKILL', cwd: '/', env: {} });
    return undefined;
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string }; // what execFile rejects with
    return (stderr || message).trim().split('\n')[0];
  }
}
