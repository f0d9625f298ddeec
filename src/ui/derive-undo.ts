/** Machines that were stopped here, and whether they can be started again yet. Pure. */
import { deriveActions, type Forbidden } from './derive-actions.ts';
import type { Machine } from './derive-machines.ts';

export type Undo = {
  readonly text: string;
  /** Those that it would start. */
  readonly able: readonly Machine[];
  /** Why it cannot be done yet; undefined when it can. */
  readonly refusal: string | undefined;
};

/** Undefined when nothing is left to undo: all are gone, or run again. */
export function deriveUndo(stopped: readonly Machine[], forbidden: ReadonlyMap<string, Forbidden>): Undo | undefined {
  const left = stopped.filter(({ vm, tone }) => vm !== undefined && tone !== 'good');
  const [first] = left;
  if (!first) return undefined;
  const states = left.map((machine) => startOf(machine, forbidden.get(machine.namespace) ?? new Set()));
  const refusal = states.find((each) => each !== undefined);
  const what = left.length === 1 ? first.name : `${left.length} machines`;
  return { text: `${what} ${left.length === 1 ? 'was' : 'were'} stopped.`, able: left, refusal };
}

function startOf(machine: Machine, forbidden: Forbidden): string | undefined {
  const start = deriveActions(machine, forbidden).find(({ action }) => action === 'start');
  return start ? start.refusal : 'it has no VirtualMachine';
}
