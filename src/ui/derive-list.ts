/** The list of machines as somebody wants it: sorted, in groups, of some namespaces and nodes. Pure. */
import { parseQuantity } from '../base/quantity.ts';
import { deriveFiltered, type Machine } from './derive-machines.ts';
import type { Place } from './derive-place.ts';

type List = Extract<Place, { page: 'machines' }>;

export const SORTS = ['status', 'name', 'size', 'address', 'node', 'since'] as const;
export type Sort = (typeof SORTS)[number];
export const GROUPS = ['namespace', 'node', 'status'] as const;
export type Group = (typeof GROUPS)[number];

/** A line of the list: a machine, or the head of those below it. */
export type Line = { readonly machine: Machine } | { readonly group: string; readonly machines: readonly Machine[] };

/** Those that fit all that is asked for. */
export function deriveShown(machines: readonly Machine[], place: List): readonly Machine[] {
  const fitting = deriveFiltered(machines, place);
  const { namespace, node } = place;
  if (namespace === undefined && node === undefined) return fitting;
  return fitting.filter((each) => (namespace === undefined || each.namespace === namespace) && (node === undefined || each.node === node));
}

/** They come by namespace and name; those without what they are sorted by come last, whichever way round. */
export function deriveLines(machines: readonly Machine[], { sort, group }: Pick<List, 'sort' | 'group'>): readonly Line[] {
  const sorted = deriveSorted(machines, sort);
  const by = GROUPS.find((each) => each === group);
  if (!by) return sorted.map((machine) => ({ machine }));
  const groups = [...Map.groupBy(sorted, (machine) => machine[by] ?? '')].sort(([a], [b]) => collate(a, b));
  return groups.flatMap(([name, members]): Line[] => [
    { group: name === '' ? `no ${by}` : name, machines: members },
    ...members.map((machine) => ({ machine })),
  ]);
}

function deriveSorted(machines: readonly Machine[], sort: string | undefined): readonly Machine[] {
  const by = SORTS.find((each) => each === sort?.replace(/^-/, ''));
  if (!by) return machines;
  const sign = sort?.startsWith('-') ? -1 : 1;
  const keys = new Map(machines.map((machine) => [machine, sortKey(machine, by)]));
  return machines.toSorted((a, b) => {
    const [x, y] = [keys.get(a), keys.get(b)];
    if (x === undefined || y === undefined) return Number(x === undefined) - Number(y === undefined);
    return sign * (typeof x === 'number' && typeof y === 'number' ? x - y : collate(String(x), String(y)));
  });
}

const { compare: collate } = new Intl.Collator('en', { numeric: true });

function sortKey(machine: Machine, by: Sort): string | number | undefined {
  if (by === 'size') return machine.memory === undefined ? undefined : parseQuantity(machine.memory);
  if (by === 'since') return machine.since === undefined ? undefined : -Date.parse(machine.since); // the youngest first
  return machine[by];
}

/** What a click on the head of a column asks for: this way round, the other, and as they come. */
export function nextSort(sort: string | undefined, column: Sort): string | undefined {
  if (sort === column) return `-${column}`;
  return sort === `-${column}` ? undefined : column;
}

/** The values that there are to choose from. */
export function valuesOf(machines: readonly Machine[], of: Group): string[] {
  return [...new Set(machines.flatMap((machine) => machine[of] || []))].sort(collate);
}
