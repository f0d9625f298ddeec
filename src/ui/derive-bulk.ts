/** What an action does to many machines at once: to which, to which not and why, and the lines that do the same in a terminal. Pure. */
import { type Action, commandOf, deriveActions } from './derive-actions.ts';
import type { Machine } from './derive-machines.ts';

export const BULK_ACTIONS = ['start', 'stop', 'restart', 'delete'] as const satisfies readonly Action[];

export type Bulk = {
  readonly action: Action;
  readonly able: readonly Machine[];
  readonly unable: readonly { readonly machine: Machine; readonly why: string }[];
  readonly commands: readonly string[];
};

/** `forbidden` by namespace, as far as it is known: the server has the last word. */
export function deriveBulk(action: Action, machines: readonly Machine[], forbidden: ReadonlyMap<string, ReadonlySet<Action>>): Bulk {
  const whys = machines.map((machine) => ({ machine, why: whyNot(action, machine, forbidden.get(machine.namespace) ?? new Set()) }));
  const able = whys.flatMap(({ machine, why }) => (why === undefined ? [machine] : []));
  const unable = whys.flatMap(({ machine, why }) => (why === undefined ? [] : [{ machine, why }]));
  return { action, able, unable, commands: commandsFor(action, able) };
}

function whyNot(action: Action, machine: Machine, forbidden: ReadonlySet<Action>): string | undefined {
  const found = deriveActions(machine, forbidden).find((each) => each.action === action);
  return found ? found.refusal : 'it has no VirtualMachine';
}

/** A line for each namespace and kind: the commands take several names. */
function commandsFor(action: Action, machines: readonly Machine[]): string[] {
  const groups = Map.groupBy(machines, ({ namespace, vm }) => `${namespace} ${vm !== undefined}`);
  return [...groups.values()].map((group) => {
    const [first] = group;
    const names = group.map(({ name }) => name).join(' ');
    return first ? commandOf(action, { ...first, name: names }) : '';
  });
}
