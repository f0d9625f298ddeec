/**
 * What the cards of guests carried, as their agents count it. Agents are slow and may be hostile: nobody waits for them. Each is asked one question at
 * a time, and what is told is its last answer.
 */

import { macOf } from '../../qemu/convert/mac.ts';
import { interfacesOf } from '../../qemu/convert/root-bus.ts';
import type { Guest } from '../vmi/domains.ts';
import { type NetworkFigures, readNetworks } from './guest-figures.ts';

type Known = { figures: readonly NetworkFigures[]; isAsking: boolean };
type Asked = Pick<Guest, 'vmi' | 'agent'>;

export class GuestNetworks {
  readonly #known = new WeakMap<Asked, Known>();

  /** What it said last, and asks again. Nothing without an agent. */
  latest(guest: Asked): readonly NetworkFigures[] {
    if (guest.agent.facts.state !== 'connected') {
      this.#known.delete(guest);
      return [];
    }
    const known = this.#known.get(guest) ?? { figures: [], isAsking: false };
    this.#known.set(guest, known);
    if (!known.isAsking) void this.#ask(guest, known);
    return known.figures;
  }

  async #ask({ vmi, agent }: Asked, known: Known): Promise<void> {
    known.isAsking = true;
    try {
      const names = new Map(interfacesOf(vmi.spec).map((nic) => [macOf(vmi, nic).toLowerCase(), nic.name]));
      known.figures = readNetworks(await agent.ask({ command: 'guest-network-get-interfaces' }), names);
    } catch {
      known.figures = []; // it does not tell, or is gone
    } finally {
      known.isAsking = false;
    }
  }
}
