/**
 * Ends what a container leaves behind where it has joined the process namespace of others, in which the end of its first process does not end
 * the rest. A container is known by its UTS namespace: it cannot leave it, and the shell around its crun is in it, so that its number is
 * nobody else's as long as the shell looks.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { firstProcessesOf, isInSandbox, readNumber } from '../../../base/node/pod-sandbox.ts';
import { identify, signalProcess } from '../../../base/node/process-identity.ts';

/** The number of that namespace, for a kubelet whose shell was killed. */
const UTS_FILE = 'uts';
/** Half a second or so; a process that the kernel does not let go must not hold up the news of how the container ended. */
const ROUNDS = 10;

/** For the shell, before it runs crun, in a UTS namespace of its own. */
export const NOTE_PROCESSES = `stat -L -c %i /proc/$$/ns/uts > ${UTS_FILE} || exit 125`;

/** For the shell, when crun has ended: everything in its UTS namespace, but for what is in the process namespace of the shell itself. */
export const END_PROCESSES = `
own=$(readlink /proc/$$/ns/pid)
round=0
while [ $round -lt ${ROUNDS} ]; do
  rest=
  for each in $(find -L /proc/[0-9]*/ns/uts -maxdepth 0 -inum "$(cat ${UTS_FILE})" 2> /dev/null); do
    each=\${each%/ns/uts}
    [ "$(readlink "$each/ns/pid" || echo "$own")" = "$own" ] || rest="$rest \${each#/proc/}"
  done
  [ -n "$rest" ] || break
  kill -s KILL $rest 2> /dev/null
  round=$((round + 1))
  sleep 0.05
done`;

/** The same for a container whose shell was killed before it. Another container of the Pod may have the number by now: those are left alone. */
export function endProcessesLeft({ dir, container, bundle }: { dir: string; container: string; bundle: string }): void {
  const number = readNumber(join(bundle, UTS_FILE));
  if (number === undefined) return;
  const others = firstProcessesOf(dir).filter((each) => each.container !== container);
  if (others.some(({ process }) => utsOf(process.pid) === number)) return;
  for (const pid of readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)) {
    if (utsOf(pid) !== number || !isInSandbox(dir, pid)) continue;
    const found = identify(pid);
    if (found) signalProcess(found, 'SIGKILL');
  }
}

function utsOf(pid: number): number | undefined {
  try {
    return statSync(`/proc/${pid}/ns/uts`).ino;
  } catch {
    return undefined; // ended, or somebody else's
  }
}
