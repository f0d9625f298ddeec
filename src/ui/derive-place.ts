/** Where in the page one is: the address says all of it. Pure. */
export const MACHINE_TABS = ['overview', 'console', 'configuration', 'disks', 'network', 'activity', 'yaml'] as const;
/** Ways into a guest: parts of the tab `console`, each with an address of its own. */
export const CONSOLE_PARTS = ['console', 'screen', 'shell', 'logs'] as const;
export type ConsolePart = (typeof CONSOLE_PARTS)[number];
export type MachineTab = (typeof MACHINE_TABS)[number] | ConsolePart;
const PAGES = ['images', 'activity', 'nodes'] as const;

export type Place =
  | {
      readonly page: 'machines';
      readonly text: string;
      readonly status: string;
      readonly namespace?: string;
      readonly node?: string;
      /** A column, with `-` the other way round; see derive-list.ts. */
      readonly sort?: string;
      readonly group?: string;
    }
  | { readonly page: (typeof PAGES)[number] }
  | { readonly page: 'create'; readonly image?: string }
  | { readonly page: 'machine'; readonly namespace: string; readonly name: string; readonly tab: MachineTab }
  | { readonly page: 'nowhere' };

/** What can be asked of the list of machines, besides words and a status. */
const LIST_WISHES = ['namespace', 'node', 'sort', 'group'] as const;

export function derivePlace(pathname: string, search: string): Place {
  const parts = pathname.split('/').filter(Boolean).map(decoded);
  const [first, namespace, kind, name, tab = 'overview'] = parts;
  const query = new URLSearchParams(search);
  if (first === undefined) {
    const asked = LIST_WISHES.flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : []));
    return { page: 'machines', text: query.get('q') ?? '', status: query.get('status') ?? '', ...Object.fromEntries(asked) };
  }
  if (first === 'create' && parts.length === 1) return { page: 'create', ...(query.get('image') && { image: query.get('image') ?? '' }) };
  const page = PAGES.find((each) => each === first);
  if (page && parts.length === 1) return { page };
  const known = [...MACHINE_TABS, ...CONSOLE_PARTS].find((each) => each === tab);
  if (first === 'ns' && kind === 'vm' && namespace && name && known && parts.length <= 5)
    return { page: 'machine', namespace, name, tab: known };
  return { page: 'nowhere' };
}

export function placePath(place: Place): string {
  if (place.page === 'machines') {
    const asked = [['q', place.text], ['status', place.status], ...LIST_WISHES.map((name) => [name, place[name] ?? ''])];
    const query = new URLSearchParams(asked.filter(([, value]) => value !== ''));
    return query.size === 0 ? '/' : `/?${query}`;
  }
  if (place.page === 'create' && place.image) return `/create?${new URLSearchParams({ image: place.image })}`;
  if (place.page === 'machine') {
    const at = `/ns/${encodeURIComponent(place.namespace)}/vm/${encodeURIComponent(place.name)}`;
    return place.tab === 'overview' ? at : `${at}/${place.tab}`;
  }
  return place.page === 'nowhere' ? '/' : `/${place.page}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The tab that a part of the page is in. */
export function tabOf(tab: MachineTab): (typeof MACHINE_TABS)[number] {
  return MACHINE_TABS.find((each) => each === tab) ?? 'console';
}
