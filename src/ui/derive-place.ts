/** Where in the page one is: the address says all of it. Pure. */
export const MACHINE_TABS = ['overview', 'console', 'screen', 'disks', 'network', 'activity', 'yaml'] as const;
export type MachineTab = (typeof MACHINE_TABS)[number];

export type Place =
  | { readonly page: 'machines'; readonly text: string; readonly status: string }
  | { readonly page: 'create' }
  | { readonly page: 'machine'; readonly namespace: string; readonly name: string; readonly tab: MachineTab }
  | { readonly page: 'activity' }
  | { readonly page: 'nodes' }
  | { readonly page: 'nowhere' };

export function derivePlace(pathname: string, search: string): Place {
  const parts = pathname.split('/').filter(Boolean).map(decoded);
  const [first, namespace, kind, name, tab = 'overview'] = parts;
  const query = new URLSearchParams(search);
  if (first === undefined) return { page: 'machines', text: query.get('q') ?? '', status: query.get('status') ?? '' };
  if (parts.length === 1 && (first === 'create' || first === 'activity' || first === 'nodes')) return { page: first };
  const known = MACHINE_TABS.find((each) => each === tab);
  if (first === 'ns' && kind === 'vm' && namespace && name && known && parts.length <= 5)
    return { page: 'machine', namespace, name, tab: known };
  return { page: 'nowhere' };
}

export function placePath(place: Place): string {
  if (place.page === 'machines') {
    const query = new URLSearchParams([...(place.text ? [['q', place.text]] : []), ...(place.status ? [['status', place.status]] : [])]);
    return query.size === 0 ? '/' : `/?${query}`;
  }
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
