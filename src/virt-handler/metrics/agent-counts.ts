/**
 * What the cards of guests carried and how full their file systems are, as their agents count it. Agents are slow and may be hostile: nobody waits for
 * them. Each is asked one question at a time, and what is told is its last answer.
 */

import { macOf } from '../../qemu/convert/mac.ts';
import { interfacesOf } from '../../qemu/convert/root-bus.ts';
import { readFileSystems } from '../agent/facts.ts';
import type { Guest } from '../vmi/domains.ts';
import { type FileSystemFigures, type NetworkFigures, readNetworks } from './guest-figures.ts';

export type AgentFigures = { readonly networks: readonly NetworkFigures[]; readonly fileSystems: readonly FileSystemFigures[] };
type Known = { isAsking: boolean; networks: readonly NetworkFigures[]; fileSystems: readonly FileSystemFigures[]; fullAtMs: number };
type Asked = Pick<Guest, 'vmi' | 'agent'>;

const NOTHING: AgentFigures = { networks: [], fileSystems: [] };
/** Disks fill up slowly, and to look through all of them costs a guest more than its cards do. */
const FILE_SYSTEMS_EVERY_MS = 60_000;
/** Their names are the guest's word: a guest that says that it has hundreds makes no more series. */
const MOST_FILE_SYSTEMS = 20;
/** Shorter than the longest label, so that two names that differ do so in a label, too. */
const LONGEST_PLACE = 256;

export class AgentCounts {
  readonly #known = new WeakMap<Asked, Known>();

  /** What it said last, and asks again. Nothing without an agent. */
  latest(guest: Asked, nowMs: number): AgentFigures {
    if (guest.agent.facts.state !== 'connected') {
      this.#known.delete(guest);
      return NOTHING;
    }
    const known = this.#known.get(guest) ?? { ...NOTHING, isAsking: false, fullAtMs: Number.NEGATIVE_INFINITY };
    this.#known.set(guest, known);
    if (!known.isAsking) void this.#ask(guest, known, nowMs);
    return { networks: known.networks, fileSystems: known.fileSystems };
  }

  async #ask(guest: Asked, known: Known, nowMs: number): Promise<void> {
    known.isAsking = true;
    known.networks = await orNothing(networksOf(guest));
    if (Math.abs(nowMs - known.fullAtMs) >= FILE_SYSTEMS_EVERY_MS) {
      known.fullAtMs = nowMs;
      known.fileSystems = await orNothing(fileSystemsOf(guest));
    }
    known.isAsking = false;
  }
}

async function networksOf({ vmi, agent }: Asked): Promise<readonly NetworkFigures[]> {
  const names = new Map(interfacesOf(vmi.spec).map((nic) => [macOf(vmi, nic).toLowerCase(), nic.name]));
  return readNetworks(await agent.ask({ command: 'guest-network-get-interfaces' }), names);
}

/** What is mounted twice at one place is one: two samples with the same labels are no metrics. */
async function fileSystemsOf({ agent }: Asked): Promise<readonly FileSystemFigures[]> {
  const byName = new Map<string, FileSystemFigures>();
  for (const { diskName, mountPoint: whole, fileSystemType, usedBytes, totalBytes } of readFileSystems(
    await agent.ask({ command: 'guest-get-fsinfo' }),
  )) {
    const mountPoint = whole.slice(0, LONGEST_PLACE);
    const name = JSON.stringify([diskName, mountPoint, fileSystemType]);
    if (totalBytes > 0 && !byName.has(name) && byName.size < MOST_FILE_SYSTEMS)
      byName.set(name, { diskName, mountPoint, fileSystemType, usedBytes, totalBytes });
  }
  return [...byName.values()];
}

/** It does not tell, or is gone. */
async function orNothing<Item>(answer: Promise<readonly Item[]>): Promise<readonly Item[]> {
  try {
    return await answer;
  } catch {
    return [];
  }
}
