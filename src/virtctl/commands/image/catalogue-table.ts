/** A catalogue as a table, and the catalogues from elsewhere brought up to date before. */

import type { Catalogue, Listed } from '../../../images/catalogue/catalogue.ts';
import { readCatalogue } from '../../../images/catalogue/catalogue.ts';
import { refreshCatalogues } from '../../../images/catalogue/team-catalogues.ts';
import type { Deps } from '../../deps.ts';
import { renderTable } from '../../table.ts';

const HEADER = ['NAME', 'DESCRIPTION', 'USER', 'MEMORY', 'DISK', 'ARCHITECTURES', 'FROM'];

/** All names that mean something now; what could not be brought up to date is said on stderr. */
export async function currentCatalogue({ home, clock, stderr }: Pick<Deps, 'home' | 'clock' | 'stderr'>): Promise<Catalogue> {
  for (const note of await refreshCatalogues({ home, clock })) stderr.write(`virtctl: ${note}\n`);
  return readCatalogue(home);
}

/** A line for each; other names of an entry say which one it is. */
export function catalogueTable(listed: readonly Listed[]): string {
  const rows = listed.map(({ name, entryName, entry, from }) => [
    name,
    name === entryName ? entry.description : `is ${entryName}`,
    entry.user ?? '-',
    entry.memory ?? '-',
    entry.disk ?? '-',
    Object.keys(entry.sources).join(', '),
    from,
  ]);
  return renderTable([HEADER, ...rows]);
}
