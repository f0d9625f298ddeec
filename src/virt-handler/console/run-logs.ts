/**
 * What guests printed in runs that are over: a file per run, in a folder of the machine's uid, so that a successor of the same name
 * never sees it. The last runs of each machine are kept, and those of the machines that ran last.
 */
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export type EndedRun = { readonly endedAtMs: number; readonly printed: Buffer };

const RUNS_PER_MACHINE = 3;
const MACHINES = 500;
const UID = /^[A-Za-z0-9][A-Za-z0-9-]{0,127}$/;

export class RunLogs {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Keeps what was printed in a run that has just ended. */
  async keep(uid: string, { endedAtMs, printed }: EndedRun): Promise<void> {
    if (!UID.test(uid) || printed.length === 0) return;
    const folder = join(this.#folder, uid);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(join(folder, `${endedAtMs}.log`), printed, { mode: 0o600 });
    for (const old of (await runsIn(folder)).slice(RUNS_PER_MACHINE)) await rm(join(folder, `${old}.log`), { force: true });
    await this.#forgetOldest();
  }

  /** The last run of a machine that is over; undefined when there is none that we know of. */
  async last(uid: string): Promise<EndedRun | undefined> {
    if (!UID.test(uid)) return undefined;
    const folder = join(this.#folder, uid);
    const [endedAtMs] = await runsIn(folder);
    return endedAtMs === undefined ? undefined : { endedAtMs, printed: await readFile(join(folder, `${endedAtMs}.log`)) };
  }

  async #forgetOldest(): Promise<void> {
    const names = await readdir(this.#folder);
    if (names.length <= MACHINES) return;
    const dated = await Promise.all(names.map(async (name) => ({ name, at: (await stat(join(this.#folder, name))).mtimeMs })));
    const old = dated.sort((a, b) => b.at - a.at).slice(MACHINES);
    for (const { name } of old) await rm(join(this.#folder, name), { recursive: true, force: true });
  }
}

/** When the runs ended whose logs are here, the last first. */
async function runsIn(folder: string): Promise<number[]> {
  const names = await readdir(folder).catch(() => []); // nothing was kept
  return names
    .map((name) => Number(/^(\d+)\.log$/.exec(name)?.[1]))
    .filter((at) => !Number.isNaN(at))
    .sort((a, b) => b - a);
}
