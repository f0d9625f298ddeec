/**
 * The folder of one native container, in that of its Pod:
 *
 *   containers/NAME/bundle/config.json    what crun is told
 *                          lower          -> the unpacked image
 *                          upper, work    what the container writes, anew with every run
 *                          root           where both are put together, in a mount namespace that ends with the container
 *                          volumes/N      folders of volumes that a subPath names
 *                          crun/          crun's own notes
 *                          pid            of the first process
 *                          exit           how the run ended, for a kubelet that did not see it
 *                          uts            how what it leaves behind is known, where it shares processes with others
 *                          stdin          a fifo, of a container with `stdin` or `tty`: what is written there is read by the container
 *                          stdin-holder   the number of a process that keeps the fifo open while nobody is attached
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { chmod, chown, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Container } from '../../../api/core/pod.ts';
import { BUNDLE_FOLDER, PID_FILE, readNumber, type Sandbox } from '../../../base/node/pod-sandbox.ts';
import { containerDir } from '../pod-folder.ts';
import { HOLDER_FILE, STDIN_FILE } from './container-stdin.ts';
import type { IdMapping } from './id-mapping.ts';
import { openWay } from './open-way.ts';
import { enterSandbox } from './sandbox.ts';
import { END_PROCESSES, NOTE_PROCESSES } from './shared-processes.ts';

/** A folder of a volume that is mounted from where it really is, at the moment of the mount. */
export type SubPathMount = { readonly volume: string; readonly subPath: string };

/** The name that crun knows the one container of a bundle by. */
const CRUN_ID = 'container';
/** Hidden, because the version of Debian 12 refuses to start where both versions of cgroups are mounted; it is told to use none. */
const HIDE_CGROUPS = 'mount -t tmpfs none /sys/fs/cgroup 2> /dev/null';
const CRUN_RUN = `crun --root crun --cgroup-manager=disabled run --no-new-keyring --pid-file ${PID_FILE} -b . ${CRUN_ID}`;
/**
 * $1 the bundle, $2 what the container reads (nothing, stdin, tty), $3 whose processes it is among (own, shared), then pairs of a volume and a path in it. `.` is what was entered, whatever is put in the place of its name meanwhile, and
 * `pwd -P` tells whether that is still in the volume. What is missing of the path is made on the way, step by step, by the root of the container: nothing is made for it elsewhere.
 */
const RUN = `
cd "$1" || exit 125
reads=$2
processes=$3
shift 3
[ "$processes" = own ] || ${NOTE_PROCESSES}
${HIDE_CGROUPS}
mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work,userxattr root || exit 125
bundle=$(pwd -P)
number=0
while [ $# -gt 0 ]; do
  cd -P "$1" && top=$(pwd -P) || exit 125
  rest=$2/
  while [ -n "$rest" ]; do
    part=\${rest%%/*}
    rest=\${rest#*/}
    [ -e "./$part" ] || mkdir -m 755 "./$part" || exit 125
    cd -P "./$part" || exit 125
    case "$(pwd -P)/" in "$top"/*) ;; *) echo "subPath $2 leads out of its volume" >&2; exit 125 ;; esac
  done
  mount --bind . "$bundle/volumes/$number" || exit 125
  number=$((number + 1))
  shift 2
done
cd "$bundle" || exit 125
case "$reads" in
  nothing) ${CRUN_RUN} ;;
  *)
    mkfifo -m 600 ${STDIN_FILE} || exit 125
    exec 3<> ${STDIN_FILE}
    sleep infinity < /dev/null > /dev/null 2>&1 &
    echo $! > ${HOLDER_FILE}
    exec 3>&-
    if [ "$reads" = tty ]; then script -qefc 'exec ${CRUN_RUN}' /dev/null < ${STDIN_FILE}
    else ${CRUN_RUN} < ${STDIN_FILE}
    fi ;;
esac
code=$?
if [ "$processes" != own ]; then ${END_PROCESSES}
fi
echo "$code" > exit
[ "$reads" = nothing ] || kill "$(cat ${HOLDER_FILE})" 2> /dev/null
exit "$code"`;
/** $1 the bundle, $2... crun's arguments. */
const EXEC = `
cd "$1" || exit 125
shift
${HIDE_CGROUPS}
exec crun --root crun --cgroup-manager=disabled exec "$@"`;

export function bundleDir(dir: string, container: string): string {
  return join(containerDir(dir, container), BUNDLE_FOLDER);
}

/** Makes the folder for the next run; what an earlier one wrote is gone, as it is with every container. */
export async function makeBundle(options: {
  readonly dir: string;
  readonly container: string;
  readonly lower: string;
  readonly config: object;
  readonly subPaths: number;
  readonly mapping: IdMapping;
}): Promise<string> {
  const { dir, container, lower, config, subPaths, mapping } = options;
  const bundle = bundleDir(dir, container);
  await removeBundle(dir, container);
  const folders = ['', 'upper', 'work', 'root', 'crun', 'volumes', ...Array.from({ length: subPaths }, (_, index) => `volumes/${index}`)];
  for (const name of folders) {
    const path = join(bundle, name);
    await mkdir(path, { recursive: true, mode: 0o700 });
    // The root of what a container sees is open to its users, as in its image; the bundle around it is closed to everybody else.
    if (name === 'upper' || name === 'root') await chmod(path, 0o755);
    if (mapping.count > 1) await chown(path, mapping.uid, mapping.gid);
  }
  await symlink(lower, join(bundle, 'lower'));
  await writeFile(join(bundle, 'config.json'), JSON.stringify(config), { mode: 0o644 });
  return bundle;
}

async function removeBundle(dir: string, container: string): Promise<void> {
  const path = bundleDir(dir, container);
  await chmod(join(path, 'work', 'work'), 0o700).catch(() => {}); // the kernel makes it without any rights
  await rm(path, { recursive: true, force: true });
}

type RunOptions = {
  readonly subPaths: readonly SubPathMount[];
  readonly container: Container;
  readonly processes: 'own' | 'shared';
};

/** The words that run the container of a bundle. */
export function runWords(sandbox: Sandbox, mapping: IdMapping, bundle: string, { subPaths, container, processes }: RunOptions): string[] {
  const pairs = subPaths.flatMap(({ volume, subPath }) => [volume, subPath]);
  const reads = container.tty ? 'tty' : container.stdin ? 'stdin' : 'nothing';
  const enter = [...openWay(bundle, mapping), ...enterSandbox(sandbox, mapping)];
  return [...enter, 'unshare', '-m', '-u', 'sh', '-c', RUN, 'container', bundle, reads, processes, ...pairs];
}

export type ExecOptions = { readonly command: readonly string[]; readonly hasTerminal: boolean };
/** What crun is told of one more program, and its number once it runs; in the bundle. */
type ExecFiles = { readonly processFile: string; readonly pidFile: string };

/** The program of a terminal at the other end may be any that kubectl runs in. */
const TERMINAL = 'TERM=xterm';

/** Says what is to be run: with the user, the rights and the variables that the container itself has. */
export function writeExecFiles(bundle: string, { command, hasTerminal }: ExecOptions): ExecFiles {
  const { process } = JSON.parse(readFileSync(join(bundle, 'config.json'), 'utf8')) as { process: { readonly env?: readonly string[] } };
  const name = `exec-${randomUUID()}`;
  const files = { processFile: join(bundle, `${name}.json`), pidFile: join(bundle, `${name}.pid`) };
  const env = [...(process.env ?? []), ...(hasTerminal ? [TERMINAL] : [])];
  writeFileSync(files.processFile, JSON.stringify({ ...process, args: command, terminal: hasTerminal, env }), { mode: 0o644 });
  return files;
}

/** The words that run one more program in a running container. */
export function execWords(
  sandbox: Sandbox,
  mapping: IdMapping,
  bundle: string,
  files: ExecFiles & { readonly hasTerminal: boolean },
): string[] {
  const flags = ['--pid-file', files.pidFile, '--process', files.processFile];
  const enter = [...openWay(bundle, mapping), ...enterSandbox(sandbox, mapping)];
  const words = [...enter, 'unshare', '-m', 'sh', '-c', EXEC, 'exec', bundle, ...flags, CRUN_ID];
  return files.hasTerminal ? onTerminal(words) : words;
}

/** crun passes what it is told on to the terminal in the container only from a terminal of its own; `script` makes one and takes pipes. */
function onTerminal(words: readonly string[]): string[] {
  const quoted = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  return ['script', '-qefc', `exec ${quoted}`, '/dev/null'];
}

/** How the last run ended; undefined while it runs, and when nobody could write it down. */
export function readExitCode(bundle: string): number | undefined {
  return readNumber(join(bundle, 'exit'));
}
