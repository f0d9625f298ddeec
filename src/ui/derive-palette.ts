/** What the palette of commands offers for what somebody has typed. Pure. */
import { ACTION_WORDS, type Action, deriveActions, type Forbidden } from './derive-actions.ts';
import type { Machine } from './derive-machines.ts';
import type { MachineTab, Place } from './derive-place.ts';
import { THEME_WORDS, THEMES, type Theme } from './theme.ts';

export type PaletteEntry = {
  readonly label: string;
  /** The same in a terminal, or where it leads. */
  readonly hint: string;
  readonly does: { readonly go: Place } | { readonly theme: Theme } | { readonly action: Action; readonly machine: Machine };
};

/** More than anybody reads; whoever wants another types a letter more. */
const MOST = 20;
const NOTHING_FORBIDDEN: Forbidden = new Set();
const NOTHING_KNOWN: ReadonlyMap<string, Forbidden> = new Map();
const THEME_ENTRIES: readonly PaletteEntry[] = THEMES.map((theme) => ({
  label: `Theme: ${THEME_WORDS[theme]}`,
  hint: 'in this browser',
  does: { theme },
}));
const PAGES: readonly PaletteEntry[] = [
  { label: 'Machines', hint: 'g m', does: { go: { page: 'machines', text: '', status: '' } } },
  { label: 'Create a machine', hint: 'c', does: { go: { page: 'create' } } },
  { label: 'Images', hint: 'g i', does: { go: { page: 'images' } } },
  { label: 'Activity', hint: 'g a', does: { go: { page: 'activity' } } },
  { label: 'Nodes', hint: 'g n', does: { go: { page: 'nodes' } } },
];

/** Entries that have every word in them, pages first; of actions only those that can be done now, by whoever asks, as far as his rights (by namespace) are known. */
export function derivePalette(machines: readonly Machine[], text: string, forbidden = NOTHING_KNOWN): PaletteEntry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ label }: PaletteEntry) => words.every((word) => label.toLowerCase().includes(word));
  const found = PAGES.filter(fits);
  for (const machine of machines) {
    if (found.length >= MOST) break;
    found.push(...entriesOf(machine, forbidden.get(machine.namespace)).filter(fits));
  }
  return [...found, ...(words.length > 0 ? THEME_ENTRIES.filter(fits) : [])].slice(0, MOST);
}

function entriesOf(machine: Machine, forbidden = NOTHING_FORBIDDEN): PaletteEntry[] {
  const { namespace, name } = machine;
  const called = namespace === 'default' ? name : `${name} in ${namespace}`;
  const open = (label: string, tab: MachineTab): PaletteEntry => ({
    label: `${label} ${called}`,
    hint: machine.status,
    does: { go: { page: 'machine', namespace, name, tab } },
  });
  const actions = deriveActions(machine, forbidden).filter(({ refusal }) => refusal === undefined);
  return [
    open('Open', 'overview'),
    open('Console of', 'console'),
    open('Screen of', 'screen'),
    open('Shell of', 'shell'),
    open('Log of', 'logs'),
    open('Configuration of', 'configuration'),
    open('YAML of', 'yaml'),
    ...actions.map(({ action, command }) => ({ label: `${ACTION_WORDS[action]} ${called}`, hint: command, does: { action, machine } })),
  ];
}
