/** virt-launcher: `prepare` makes what a guest needs and then becomes QEMU; `attach` does the same for a disk that comes while a guest runs, `save` takes the memory of a guest to a PVC, `dump` a dump of it, and `backup` its disks. Started for every guest, so it loads little and caches its code. */
import { writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { ATTACH_COMMAND } from '../api/launcher/attachment.ts';
import { BACKUP_COMMAND } from '../api/launcher/backup.ts';
import { LAUNCHER_COMMAND } from '../api/launcher/compute.ts';
import { DUMP_COMMAND } from '../api/launcher/memory-dump.ts';
import { SAVE_COMMAND } from '../api/launcher/suspension.ts';
import { LAUNCHER_VARIABLES } from '../api/launcher/variables.ts';
import { systemClock } from '../base/clock.ts';
import { messageOf, UserError } from '../base/errors.ts';
import { attach } from '../virt-launcher/attach.ts';
import { untilDisksAreThere } from '../virt-launcher/container-disk-share.ts';
import { dumpMemory } from '../virt-launcher/dump-memory.ts';
import { prepare, readVmi } from '../virt-launcher/prepare.ts';
import { saveMemory } from '../virt-launcher/save-memory.ts';
import { writeBackup } from '../virt-launcher/write-backup.ts';

const STDOUT = 1;
const STDERR = 2;
const COMMANDS = [LAUNCHER_COMMAND, ATTACH_COMMAND, SAVE_COMMAND, DUMP_COMMAND, BACKUP_COMMAND] as const;
const WRITERS = new Map<string, typeof saveMemory>([
  [SAVE_COMMAND, saveMemory],
  [DUMP_COMMAND, dumpMemory],
  [BACKUP_COMMAND, writeBackup],
]);

// bin/virt-launcher names a folder for compiled code. Node would write it at the end, but this process does not end, it becomes QEMU.
flushCompileCache();

try {
  const [command, ...others] = process.argv.slice(2);
  if (!COMMANDS.some((each) => each === command) || others.length > 0)
    throw new UserError('USAGE', `virt-launcher has five commands: ${COMMANDS.join(', ')}`, { fix: 'virt-launcher prepare', exitCode: 2 });
  if (process.env[LAUNCHER_VARIABLES.diskShare]) await waitForDisks();
  // Not process.stdout: using it would make the pipe non-blocking, and QEMU inherits that.
  const report = (line: string) => void writeSync(STDOUT, `${line}\n`);
  const write = WRITERS.get(command ?? '');
  if (write) await writeUntilEnded(write, report);
  else {
    const launch = command === ATTACH_COMMAND ? attach({ env: process.env, report }) : prepare({ env: process.env, report });
    process.execve?.(launch.program, [launch.program, ...launch.args], launch.env);
  }
} catch (error) {
  writeSync(STDERR, `${errorLine(error)}\n`);
  process.exitCode = error instanceof UserError ? error.exitCode : 1;
}

/** An image that cannot be had may never come. The kubelet asks to stop with SIGCONT, as the image says; there is no guest yet that it could harm. */
async function waitForDisks(): Promise<void> {
  const stop = new AbortController();
  for (const signal of ['SIGCONT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  await untilDisksAreThere({ vmi: readVmi(process.env), env: process.env, clock: systemClock, signal: stop.signal });
  if (stop.signal.aborted) process.exit(0);
}

/** Nothing is lost with it: what is not whole is not used. */
async function writeUntilEnded(write: typeof saveMemory, report: (line: string) => void): Promise<void> {
  for (const signal of ['SIGCONT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
  await write({ env: process.env, report });
}

/** One line: it is the last one of the container's log, and what `kubectl describe` shows. */
function errorLine(error: unknown): string {
  if (!(error instanceof UserError)) return `error[INTERNAL]: ${messageOf(error)}`;
  const parts = [error.message, error.why && `why: ${error.why}`, error.fix && `fix: ${error.fix}`];
  return `error[${error.code}]: ${parts.filter(Boolean).join(' / ')}`.replaceAll('\n', ' ');
}
