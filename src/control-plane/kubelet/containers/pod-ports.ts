/** Keeps the ports that containers of a Pod listen on open at the address of the Pod, and no others. */
import { messageOf } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import { openPortsOf } from './open-ports.ts';
import { addForward, type Forward, listForwards, removeForward } from './slirp-control.ts';

export class PodPorts {
  readonly #dir: string;
  readonly #log: Logger;
  /** What is open now, as text; undefined until slirp4netns was asked. */
  #known: string | undefined;
  #isBusy = false;

  constructor(dir: string, log: Logger) {
    this.#dir = dir;
    this.#log = log;
  }

  /** Looks once; a look that is under way is not overtaken. */
  async follow(holderPid: number, podIP: string): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      const wanted = openPortsOf(holderPid);
      const text = wanted.map(nameOf).join(' ');
      if (text === this.#known) return;
      const open = await listForwards(this.#dir);
      const names = new Set(wanted.map(nameOf));
      const there = new Set([...open.values()].map(nameOf));
      for (const [id, forward] of open) if (!names.has(nameOf(forward))) await removeForward(this.#dir, id);
      for (const forward of wanted) if (!there.has(nameOf(forward))) await addForward(this.#dir, podIP, forward);
      this.#known = text;
    } catch (error) {
      this.#log.debug('cannot open the ports of a Pod yet', { error: messageOf(error) }); // the next look tries again
    } finally {
      this.#isBusy = false;
    }
  }
}

function nameOf({ protocol, port }: Forward): string {
  return `${protocol}/${port}`;
}
