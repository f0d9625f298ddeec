/**
 * The histories of the guests of this node, by the uid of their machine, so that a successor of the same name never sees them. In memory while the guest is
 * followed, and in a file each, which the next virt-handler goes on with. A file whose last step is too old to be shown is removed.
 */
import { mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HISTORY_SECONDS, type UsageHistory } from '../../api/handler/usage-history.ts';
import { controllerOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Guest } from '../vmi/domains.ts';
import { deriveHistoryPoint, deriveUsageHistory } from './derive-history.ts';
import type { GuestFigures } from './guest-figures.ts';
import { HistoryRing, RING_BYTES, type RingRecord } from './history-ring.ts';

type Remembered = Pick<Guest, 'vmi'>;
export type UsageHistoriesOptions = {
  /** Where to keep them; in memory alone when not given. */
  readonly folder?: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
};

const UID = /^[A-Za-z0-9][A-Za-z0-9-]{0,127}$/;
const SUFFIX = '.ring';

export class UsageHistories {
  readonly #options: UsageHistoriesOptions;
  readonly #rings = new WeakMap<Remembered, Promise<HistoryRing>>();
  /** One write after the other, for each file. */
  readonly #writes = new WeakMap<HistoryRing, Promise<void>>();
  #hasWarned = false;

  constructor(options: UsageHistoriesOptions) {
    this.#options = options;
  }

  /** Remembers a step. */
  async add(guest: Remembered, now: GuestFigures, before: GuestFigures | undefined): Promise<void> {
    const ring = await this.#ringOf(guest);
    await this.#keep(guest, ring, ring.add(deriveHistoryPoint(now, before)));
  }

  /** The last seconds of a guest. */
  async of(guest: Remembered, seconds: number): Promise<UsageHistory> {
    const ring = await this.#ringOf(guest);
    return deriveUsageHistory(ring.points(Math.floor(this.#options.clock.now() / 1000), seconds), seconds);
  }

  #ringOf(guest: Remembered): Promise<HistoryRing> {
    const known = this.#rings.get(guest) ?? this.#open(guest);
    this.#rings.set(guest, known);
    return known;
  }

  async #open(guest: Remembered): Promise<HistoryRing> {
    const file = this.#fileOf(guest);
    if (file === undefined) return new HistoryRing();
    await this.#forgetOld().catch(() => {}); // there is no folder yet
    const { size } = await stat(file).catch(() => ({ size: 0 })); // the first run
    return new HistoryRing(size === RING_BYTES ? await readFile(file).catch(() => undefined) : undefined);
  }

  async #keep(guest: Remembered, ring: HistoryRing, record: RingRecord): Promise<void> {
    const file = this.#fileOf(guest);
    if (file === undefined) return;
    const written = (this.#writes.get(ring) ?? this.#begin(file, ring)).then(() => write(file, record));
    this.#writes.set(ring, written);
    await written.catch((error: unknown) => {
      this.#writes.delete(ring); // begun anew with the next step
      if (!this.#hasWarned) this.#options.log.warn('cannot keep what guests used', { error });
      this.#hasWarned = true;
    });
  }

  async #begin(file: string, ring: HistoryRing): Promise<void> {
    await mkdir(this.#options.folder ?? '', { recursive: true, mode: 0o700 });
    await writeFile(file, ring.bytes, { mode: 0o600 });
  }

  #fileOf({ vmi }: Remembered): string | undefined {
    const { folder } = this.#options;
    const uid = controllerOf(vmi)?.uid ?? vmi.metadata.uid ?? '';
    return folder === undefined || !UID.test(uid) ? undefined : join(folder, `${uid}${SUFFIX}`);
  }

  async #forgetOld(): Promise<void> {
    const { folder = '', clock } = this.#options;
    for (const name of await readdir(folder)) {
      if (!name.endsWith(SUFFIX)) continue;
      const { mtimeMs } = await stat(join(folder, name));
      if (clock.now() - mtimeMs > HISTORY_SECONDS * 1000) await rm(join(folder, name), { force: true });
    }
  }
}

async function write(file: string, { offset, bytes }: RingRecord): Promise<void> {
  await using handle = await open(file, 'r+');
  await handle.write(bytes, 0, bytes.length, offset);
}
