/** What an action does to many machines at once: to which, to which not and why, and the lines that do the same in a terminal. Pure. */
import { isDeleting } from '../api/meta.ts';
import { snapshotName } from '../sdk/manifest/snapshot.ts';
import { ACTION_WORDS, type BulkAction, commandOf, deriveActions, type Forbidden } from './derive-actions.ts';
import { snapshotCommand } from './derive-disks.ts';
import type { Machine } from './derive-machines.ts';

export const BULK_ACTIONS = ['start', 'stop', 'restart', 'snapshot', 'migrate', 'delete'] as const;

export const BULK_WORDS: Readonly<Record<BulkAction, string>> = { ...ACTION_WORDS, snapshot: 'Snapshot' };

export type Bulk = {
  readonly action: BulkAction;
  readonly able: readonly Machine[];
  readonly unable: readonly { readonly machine: Machine; readonly why: string }[];
  readonly commands: readonly string[];
};

/** `forbidden` by namespace, as far as it is known: the server has the last word. */
export function deriveBulk(
  action: BulkAction,
  machines: readonly Machine[],
  { forbidden, nowMs }: { readonly forbidden: ReadonlyMap<string, Forbidden>; readonly nowMs: number },
): Bulk {
  const whys = machines.map((machine) => ({ machine, why: whyNot(action, machine, forbidden.get(machine.namespace) ?? new Set()) }));
  const able = whys.flatMap(({ machine, why }) => (why === undefined ? [machine] : []));
  const unable = whys.flatMap(({ machine, why }) => (why === undefined ? [] : [{ machine, why }]));
  return { action, able, unable, commands: commandsFor(action, able, nowMs) };
}

function whyNot(action: BulkAction, machine: Machine, forbidden: Forbidden): string | undefined {
  if (action === 'snapshot' && forbidden.has(action)) return `you may not take snapshots in ${machine.namespace}`;
  if (action === 'snapshot') return machine.vm === undefined ? NO_VM : isDeleting(machine.vm) ? 'it is being deleted' : undefined;
  const found = deriveActions(machine, forbidden).find((each) => each.action === action);
  return found ? found.refusal : machine.vm ? 'it does not run' : NO_VM;
}

const NO_VM = 'it has no VirtualMachine';
/** Stands for the commands that are left out. */
export const MORE_COMMANDS = '…';
/** Beyond, they are alike. */
const MOST_COMMANDS = 3;

/** A line for each namespace and kind: the commands take several names. Snapshots have names of their own. */
function commandsFor(action: BulkAction, machines: readonly Machine[], nowMs: number): string[] {
  if (action === 'snapshot' || action === 'migrate') {
    const one = (machine: Machine) =>
      action === 'snapshot' ? snapshotCommand(machine, snapshotName(machine.name, nowMs)) : commandOf(action, machine);
    return [...machines.slice(0, MOST_COMMANDS).map(one), ...(machines.length > MOST_COMMANDS ? [MORE_COMMANDS] : [])];
  }
  const groups = Map.groupBy(machines, ({ namespace, vm }) => `${namespace} ${vm !== undefined}`);
  return [...groups.values()].map((group) => {
    const [first] = group;
    const names = group.map(({ name }) => name).join(' ');
    return first ? commandOf(action, { ...first, name: names }) : '';
  });
}
