/**
 * Takes out of QEMU what a backup has put there: jobs, the filters between guest and disk, the files it goes to, and checkpoints that nobody needs. Found by
 * what QMP shows, so that it is the same for a backup that has ended and for one whose virt-handler was killed. Each step can be repeated.
 */
import { isObject } from '../../base/json.ts';
import { stateFrom } from '../vmi/domain.ts';
import type { Performer } from '../vmi/performer.ts';
import { askNodes, bitmapOf, FILTER, JOB, PAST, type Qmp, TARGET } from './guest-nodes.ts';

const LOOK_MS = 50;
const PATIENCE_MS = 30_000;

type Clearer = Pick<Performer, 'qmp' | 'clock'>;

/** A guest that runs, or whose QEMU nobody could tell to go on, goes on. */
export async function clearBackup(performer: Clearer, what: { readonly kept: readonly string[]; readonly runs: boolean }): Promise<void> {
  const { qmp } = performer;
  if (what.runs && stateFrom(await qmp.execute('query-status')) === 'paused') await qmp.execute('cont');
  await endJobs(performer);
  const named = [...(await askNodes(qmp)).keys()];
  const remove = async (prefix: string) => {
    for (const node of named.filter((each) => each.startsWith(prefix))) await qmp.execute('blockdev-del', { 'node-name': node });
  };
  await remove(PAST);
  await takeFiltersOut(qmp);
  await remove(FILTER);
  await remove(TARGET);
  for (const [node, { checkpoints }] of await askNodes(qmp))
    for (const each of checkpoints.filter((name) => !what.kept.includes(name)))
      await qmp.execute('block-dirty-bitmap-remove', { node, name: bitmapOf(each) });
}

/** The jobs of a backup that there are. */
export async function backupJobs(qmp: Qmp): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const answer = await qmp.execute('query-jobs');
  return (Array.isArray(answer) ? answer : []).filter((job) => isObject(job) && String(job['id']).startsWith(JOB));
}

async function endJobs({ qmp, clock }: Clearer): Promise<void> {
  const deadline = clock.steady() + PATIENCE_MS;
  for (const { id, status } of await backupJobs(qmp)) {
    if (status === 'concluded') continue;
    await qmp.execute('job-cancel', { id }).catch(() => {}); // it may have ended since; whether it does is seen below
  }
  for (;;) {
    const jobs = await backupJobs(qmp);
    for (const { id } of jobs.filter(({ status }) => status === 'concluded')) await qmp.execute('job-dismiss', { id });
    if (jobs.every(({ status }) => status === 'concluded')) return;
    if (clock.steady() >= deadline) throw new Error('QEMU does not end the copies of its disks');
    await clock.sleep(LOOK_MS);
  }
}

/** Each device that has a filter gets the disk beneath it, whose name is part of that of the filter. */
async function takeFiltersOut(qmp: Qmp): Promise<void> {
  const answer = await qmp.execute('query-block');
  for (const each of Array.isArray(answer) ? answer : []) {
    const inserted = isObject(each) && isObject(each['inserted']) ? String(each['inserted']['node-name']) : '';
    if (!inserted.startsWith(FILTER)) continue;
    const path = String(each['qdev']);
    const device = /^\/machine\/peripheral\/([^/]+)/.exec(path)?.[1] ?? path;
    await qmp.execute('qom-set', { path: devicePath(device), property: 'drive', value: inserted.slice(FILTER.length) });
  }
}

export function devicePath(device: string): string {
  return `/machine/peripheral/${device}`;
}
