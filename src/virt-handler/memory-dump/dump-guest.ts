/**
 * Dumps the memory of a guest, as an ELF core file of its physical memory. QEMU stops the guest, writes, and lets it run on by itself, also when nobody
 * reads any more: a virt-handler that is killed leaves a guest that runs, and no file.
 */
import { DUMP_PIPE } from '../../api/launcher/files.ts';
import { isObject } from '../../base/json.ts';
import type { DumpTarget } from '../vmi/domain-command.ts';
import type { Performer } from '../vmi/performer.ts';
import type { DumpedGuest } from './dumped-guest.ts';

const POLL_MS = 250;
/** A disk that takes nothing for so long will not. */
const STUCK_MS = 120_000;

type Dumper = Pick<Performer, 'qmp' | 'clock' | 'dumps'>;

/** Resolves when all of it is on the disk of the PVC. */
export async function dumpGuest({ qmp, clock, dumps }: Dumper, { to }: { readonly to: DumpTarget }): Promise<DumpedGuest> {
  const dump = await dumps.open(to);
  const watching = new AbortController();
  try {
    await qmp.execute('dump-guest-memory', { paging: false, protocol: `file:${DUMP_PIPE}`, detach: true });
    await Promise.race([dump.sent(), untilStuck({ qmp, clock }, watching.signal)]);
    const { status } = await progressOf(qmp);
    if (status !== 'completed') throw new Error(`QEMU has not written it: ${status}`);
    return { bytes: await dump.finish() };
  } finally {
    watching.abort();
    dump.close();
  }
}

/** Rejects when QEMU gets nothing written for a while. */
async function untilStuck({ qmp, clock }: Pick<Dumper, 'qmp' | 'clock'>, signal: AbortSignal): Promise<void> {
  let [last, since] = [-1, clock.steady()];
  while (!signal.aborted) {
    const { completed } = await progressOf(qmp);
    if (completed !== last) [last, since] = [completed, clock.steady()];
    if (clock.steady() - since >= STUCK_MS) throw new Error(`nothing was written for ${STUCK_MS / 1000} s`);
    await clock.sleep(POLL_MS, signal);
  }
}

async function progressOf(qmp: Dumper['qmp']): Promise<{ readonly status: string; readonly completed: number }> {
  const answer = await qmp.execute('query-dump');
  const { status, completed } = isObject(answer) ? answer : {};
  return { status: String(status ?? 'none'), completed: Number(completed ?? 0) };
}
