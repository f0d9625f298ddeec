/** Keeps the ports that containers of a Pod listen on open at the address of the Pod, and no others. */
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import { isWorthReading, type Look, openPortsOf, socketCounts } from './open-ports.ts';
import { addForward, type Forward, listForwards, removeForward } from './slirp-control.ts';

export class PodPorts {
  readonly #dir: string;
  readonly #log: Logger;
  readonly #clock: Clock;
  /** What is open now, as text; undefined until slirp4netns was asked. */
  #known: string | undefined;
  /** When the tables of the kernel last said so. */
  #last: Look | undefined;
  #isBusy = false;

  constructor(dir: string, { clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#dir = dir;
    this.#clock = clock;
    this.#log = log;
  }

  /** Looks once; a look that is under way is not overtaken. */
  async follow(holderPid: number, podIP: string): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      const now = { counts: socketCounts(holderPid), atMs: this.#clock.steady() };
      if (!isWorthReading(this.#last, now)) return;
      const wanted = openPortsOf(holderPid);
      const text = wanted.map(nameOf).join(' ');
      if (text !== this.#known) await this.#open(wanted, podIP);
      this.#known = text;
      this.#last = now;
    } catch (error) {
      this.#log.debug('cannot open the ports of a Pod yet', { error: messageOf(error) }); // the next look tries again
    } finally {
      this.#isBusy = false;
    }
  }

  async #open(wanted: readonly Forward[], podIP: string): Promise<void> {
    const open = await listForwards(this.#dir);
    const names = new Set(wanted.map(nameOf));
    const there = new Set([...open.values()].map(nameOf));
    for (const [id, forward] of open) if (!names.has(nameOf(forward))) await removeForward(this.#dir, id);
    for (const forward of wanted) if (!there.has(nameOf(forward))) await addForward(this.#dir, podIP, forward);
  }
}

function nameOf({ protocol, port }: Forward): string {
  return `${protocol}/${port}`;
}
