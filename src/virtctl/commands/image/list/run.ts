/** The images of the embedded cluster. */
import { formatBytes } from '../../../../base/quantity.ts';
import { openImageStore } from '../../../../images/store.ts';
import type { Deps } from '../../../deps.ts';
import { renderTable } from '../../../table.ts';
import { storeFolder } from '../store-folder.ts';

const MIB = 2 ** 20;

export async function run(deps: Deps): Promise<void> {
  const images = await openImageStore(storeFolder(deps)).list();
  const rows = images.map(({ reference, digest, sizeBytes }) => [
    reference,
    digest.slice(7, 19),
    formatBytes(Math.ceil(sizeBytes / MIB) * MIB),
  ]);
  deps.stdout.write(rows.length === 0 ? 'no images\n' : renderTable([['NAME', 'DIGEST', 'SIZE'], ...rows]));
}
