/**
 * Looks at every guest of the node in steps, and whenever somebody wants to know more recent figures. A look costs a few short questions; only a few
 * are made at a time, and a QEMU that hangs is left out until it answers.
 */

import { MEASURED_EVERY_SECONDS } from '../../api/handler/usage-history.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Domains, Guest } from '../vmi/domains.ts';
import { AgentCounts } from './agent-counts.ts';
import type { GuestFigures } from './guest-figures.ts';
import { measureGuest } from './measure-guest.ts';
import type { PodProcesses } from './pod-processes.ts';
import { VcpuThreads } from './vcpu-figures.ts';

export type MeasuredGuest = { readonly vmi: VirtualMachineInstance; readonly figures: GuestFigures };
export type GuestMeterOptions = {
  readonly domains: Pick<Domains, 'guests'>;
  readonly processes: PodProcesses;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told of each look in steps, with the one before when there was one. */
  readonly onStep?: (guest: Guest, now: GuestFigures, before: GuestFigures | undefined) => void;
};

const AT_A_TIME = 16;
/** The first look at a guest does not wait for the next step. */
const LOOK_FOR_NEW_MS = 2_000;
/** Figures that are no older than this are good enough for whoever asks. */
const RECENT_MS = 5_000;

export class GuestMeter {
  readonly #options: GuestMeterOptions;
  /** By guest and not by name: one that comes again under a name begins again. */
  readonly #latest = new WeakMap<Guest, GuestFigures>();
  readonly #steps = new WeakMap<Guest, GuestFigures>();
  readonly #counts = new AgentCounts();
  readonly #vcpus = new VcpuThreads();
  #under: Promise<void> | undefined;

  constructor(options: GuestMeterOptions) {
    this.#options = options;
  }

  /** Measures until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    let nextStepMs = clock.steady();
    while (!signal.aborted) {
      const isStep = clock.steady() >= nextStepMs;
      if (isStep) nextStepMs = clock.steady() + MEASURED_EVERY_SECONDS * 1000;
      const guests = this.#options.domains.guests().filter((guest) => isStep || !this.#steps.has(guest));
      await this.#step(guests).catch((error: unknown) => log.error('cannot measure guests', { error }));
      await clock.sleep(LOOK_FOR_NEW_MS, signal);
    }
  }

  /** What is known of every guest that answers, no older than a few seconds. Those who ask at the same time share one look. */
  async figures(): Promise<readonly MeasuredGuest[]> {
    this.#under ??= this.#refresh(this.#options.domains.guests(), RECENT_MS).finally(() => {
      this.#under = undefined;
    });
    await this.#under;
    return this.#options.domains.guests().flatMap((guest) => {
      const figures = guest.session.domain.isConnected ? this.#latest.get(guest) : undefined;
      return figures ? [{ vmi: guest.vmi, figures }] : [];
    });
  }

  async #step(guests: readonly Guest[]): Promise<void> {
    await this.#refresh(guests, 0);
    for (const guest of guests) {
      const now = this.#latest.get(guest);
      const before = this.#steps.get(guest);
      if (!now || now === before) continue;
      this.#steps.set(guest, now);
      this.#options.onStep?.(guest, now, before);
    }
  }

  async #refresh(guests: readonly Guest[], maxAgeMs: number): Promise<void> {
    const nowMs = this.#options.clock.now();
    const due = guests.filter((guest) => canBeAsked(guest) && Math.abs(nowMs - (this.#latest.get(guest)?.atMs ?? 0)) >= maxAgeMs).values();
    const worker = async () => {
      for (const guest of due) await this.#measure(guest);
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  }

  async #measure(guest: Guest): Promise<void> {
    const { processes, clock, log } = this.#options;
    try {
      this.#latest.set(guest, await measureGuest(guest, { processes, vcpus: this.#vcpus, counts: this.#counts, nowMs: clock.now() }));
    } catch (error) {
      log.debug('cannot measure a guest', { object: `VirtualMachineInstance ${guest.key}`, error: messageOf(error) });
    }
  }
}

function canBeAsked({ session }: Guest): boolean {
  return session.domain.isConnected && session.domain.state !== 'unresponsive';
}
