/** What a key does, where it is pressed. Pure. */
import type { Action } from './derive-actions.ts';
import type { MachineTab, Place } from './derive-place.ts';

export type KeyEffect =
  | { readonly go: Place }
  | { readonly focus: 'filter' }
  | { readonly help: true }
  | { readonly await: 'g' }
  /** To the next or the one before of the list. */
  | { readonly move: 1 | -1 }
  | { readonly select: true }
  /** To the machine that is shown, or has the focus in the list. */
  | { readonly open: MachineTab }
  | { readonly action: Action };

/** The keys, for the page that lists them. */
export const KEYS: readonly (readonly [key: string, what: string])[] = [
  ['Ctrl+K', 'commands'],
  ['c', 'create a machine'],
  ['/', 'filter'],
  ['j, k', 'next machine, the one before'],
  ['x', 'select it'],
  ['Enter', 'open it'],
  ['o', 'console'],
  ['y', 'YAML'],
  ['s, S, r', 'start, stop, restart'],
  ['g m, g i, g a, g n', 'machines, images, activity, nodes'],
  ['?', 'this'],
];

const PAGES: Readonly<Record<string, Place>> = {
  m: { page: 'machines', text: '', status: '' },
  i: { page: 'images' },
  a: { page: 'activity' },
  n: { page: 'nodes' },
};
const ANYWHERE: Readonly<Record<string, KeyEffect>> = {
  c: { go: { page: 'create' } },
  '/': { focus: 'filter' },
  '?': { help: true },
  g: { await: 'g' },
};
const IN_LIST: Readonly<Record<string, KeyEffect>> = { j: { move: 1 }, k: { move: -1 }, x: { select: true } };
const AT_MACHINE: Readonly<Record<string, KeyEffect>> = {
  o: { open: 'console' },
  y: { open: 'yaml' },
  s: { action: 'start' },
  S: { action: 'stop' },
  r: { action: 'restart' },
};

/** `before` is the key that another one was awaited after. */
export function deriveKey(
  key: string,
  { page, before }: { readonly page: Place['page']; readonly before: string | undefined },
): KeyEffect | undefined {
  if (before === 'g') {
    const place = Object.hasOwn(PAGES, key) ? PAGES[key] : undefined;
    return place && { go: place };
  }
  const tables = [ANYWHERE, ...(page === 'machines' ? [IN_LIST, AT_MACHINE] : page === 'machine' ? [AT_MACHINE] : [])];
  return tables.find((table) => Object.hasOwn(table, key))?.[key];
}
