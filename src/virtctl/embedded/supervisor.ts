/**
 * What starts the embedded process again when it dies of itself: a shell, because a resident program should cost a megabyte and not thirty.
 * It goes when the process ends as it was asked to, with the data folder, and with the next `up`.
 *
 *   exit code 0; a signal that asks (TERM, INT, HUP)    somebody wanted it: the end
 *   it never served                                     `up` says why: the end
 *   any other exit code; a signal of a fault            start again
 *   KILL                                                start again if the kernel killed for lack of memory meanwhile, else somebody wanted it
 *   the sixth time without ten minutes of quiet         the end
 *
 * It is on the network of the host, where the process is not: a second shell waits at a pipe for a call of the process, and runs what listens at
 * the loopback of the host for it. That ends by itself when the process does.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import { UserError } from '../../base/errors.ts';
import { type ProcessIdentity, signalProcess } from '../../base/node/process-identity.ts';
import { restartsPath, supervisorPath } from './paths.ts';

export type SuperviseOptions = {
  readonly home: string;
  readonly command: readonly string[];
  /** Before the first restart; twice as long before each further one. */
  readonly pauseSeconds?: number;
  /** What is run on the network of the host when the process calls for it. */
  readonly hostCommand?: readonly string[];
  /** Where the kernel counts whom it killed for lack of memory. */
  readonly vmstat?: string;
};

/** It waits for a cluster that puts itself away, on a busy machine, too. */
const END_PATIENCE_MS = 60_000;
/** Between two requests to end: see SUPERVISE. */
export const ASK_AGAIN_MS = 50;

/**
 * A signal that is passed on between the fork and the exec of the process is lost: whoever wants an end says so until it is there.
 * What comes in as descriptor 3 is the process's own way to report; only the first one has somebody to report to. Descriptor 4
 * is the socket of the API on the host: who connects between two processes waits for the next.
 */
const SUPERVISE = `
run=$0/run first=$1 vmstat=$2 host=$3; shift 3
if [ -n "$host" ]; then
  [ ! -p "$run/host-call" ] || echo end 1<> "$run/host-call"
  rm -rf "$run/host-call"; mkfifo -m 600 "$run/host-call" || exit 1
  (exec 3>&- 4>&-; unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE
   while read -r word; do [ "$word" = start ] || exit 0; sh -c "$host"; done <> "$run/host-call") & reader=$!
  trap 'kill "$reader"' EXIT
fi
child= ending= asked= served= tries=0 restarts=0 pause=$first
trap 'ending=yes; asked=yes; [ -z "$child" ] || kill -TERM "$child"' TERM INT HUP
lacking() { sed -n 's/^oom_kill //p' "$vmstat"; }
say() { printf '{"time":"%s","level":"error","message":"%s","component":"supervisor","because":"%s"}\\n' "$now" "$1" "$why"; }
while :; do
  began=$(date +%s) lacked=$(lacking)
  [ -z "$ending" ] || exit 143
  "$@" & child=$!
  exec 3>&-; unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE
  asked=yes
  while [ -n "$asked" ]; do asked=; wait "$child"; code=$?; done
  ! grep -qs "\\"pid\\":$child," "$run/embedded.json" || served=yes
  child=
  [ -z "$ending" ] && [ -n "$served" ] && [ -d "$run" ] || exit "$code"
  case $code in
    0 | 129 | 130 | 143) exit "$code" ;;
    137) [ "$(lacking)" != "$lacked" ] || exit "$code"; why='the kernel killed it for lack of memory' ;;
    134) why='it gave up (signal 6), as it does when its heap is full' ;;
    13[235689] | 159) why="a fault (signal $((code - 128)))" ;;
    *) why="exit code $code" ;;
  esac
  now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  [ $(($(date +%s) - began)) -lt 600 ] || { tries=0; pause=$first; }
  tries=$((tries + 1))
  [ $tries -le 5 ] || { say 'the embedded cluster ended too often and is not started again: virtctl up, or virtctl up --without-controllers to delete what ends it'; exit "$code"; }
  restarts=$((restarts + 1))
  say 'the embedded cluster ended unexpectedly and is started again'
  printf '%s %s %s\\n' "$restarts" "$now" "$why" > "$run/restarts"
  sleep "$pause" & child=$!
  wait "$child"; child= pause=$((pause * 2))
  [ -z "$ending" ] || exit "$code"
done`;

/** The program and its arguments that run a command until somebody wants it to end. */
export function supervised(options: SuperviseOptions): readonly string[] {
  const { home, command, pauseSeconds = 1, vmstat = '/proc/vmstat', hostCommand = [] } = options;
  return ['sh', '-c', SUPERVISE, home, String(pauseSeconds), vmstat, hostCommand.map(quoted).join(' '), ...command];
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** Written down, so that the next `up` knows whom to end. */
export function keepSupervisor(home: string, supervisor: ProcessIdentity): void {
  rmSync(restartsPath(home), { force: true });
  writeFileSync(supervisorPath(home), JSON.stringify(supervisor), { mode: 0o600 });
}

/** Ends the one that is there, between two processes or while it starts one: whoever starts a cluster by hand is alone. */
export async function endSupervisor(home: string, clock: Clock): Promise<void> {
  const supervisor = readSupervisor(home);
  if (!supervisor) return;
  for (const deadline = clock.steady() + END_PATIENCE_MS; signalProcess(supervisor, 'SIGTERM'); await clock.sleep(ASK_AGAIN_MS))
    if (clock.steady() > deadline) throw doesNotEnd(supervisor);
}

function doesNotEnd({ pid }: ProcessIdentity): UserError {
  return new UserError('STILL_RUNNING', `what starts the embedded cluster again (process ${pid}) does not end`, {
    why: `it was asked to for ${END_PATIENCE_MS / 1000} seconds; the cluster that it runs may be putting itself away`,
    fix: `virtctl up again, or kill -9 ${pid} first: guests are not touched`,
  });
}

function readSupervisor(home: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(readFileSync(supervisorPath(home), 'utf8')) as ProcessIdentity;
  } catch {
    return undefined; // none, or the end of a disk that was full
  }
}
