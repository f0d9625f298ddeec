/** A catalogue as a table. Pure. */
import type { Listed } from '../../../images/catalogue/catalogue.ts';

import { renderTable } from '../../table.ts';

const HEADER = ['NAME', 'DESCRIPTION', 'USER', 'MEMORY', 'DISK', 'ARCHITECTURES', 'FROM'];

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
