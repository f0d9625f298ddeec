/** A catalogue as a table. Pure. */
import { FROM_US, type Listed } from '../../../images/catalogue/catalogue.ts';

import { renderTable } from '../../table.ts';

const HEADER = ['NAME', 'USER', 'MEMORY', 'DISK', 'ARCHITECTURES', 'DESCRIPTION'];

/** A line for each; other names of an entry say which one it is. Whose a name is stands there where it is not ours. */
export function catalogueTable(listed: readonly Listed[], columns: number | undefined): string {
  const rows = listed.map(({ name, entryName, entry, from }) => [
    name,
    entry.user ?? '-',
    entry.memory ?? '-',
    entry.disk ?? '-',
    Object.keys(entry.sources).join(', '),
    `${name === entryName ? entry.description : `is ${entryName}`}${from === FROM_US ? '' : ` (${from})`}`,
  ]);
  return renderTable([HEADER, ...rows], { columns });
}
