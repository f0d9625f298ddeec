/** The images of the embedded cluster. */
import { formatBytes } from '../../../../base/quantity.ts';
import { openImageStore, type StoredImage } from '../../../../images/store.ts';
import type { Deps } from '../../../deps.ts';
import { renderTable } from '../../../table.ts';
import { storeFolder } from '../store-folder.ts';

const MIB = 2 ** 20;

export async function run(deps: Deps, { output }: { readonly output?: 'json' | 'name' }): Promise<void> {
  const images = await openImageStore(storeFolder(deps)).list();
  switch (output) {
    case 'json':
      deps.stdout.write(`${JSON.stringify(images, ['reference', 'digest', 'sizeBytes'], 2)}\n`);
      return;
    case 'name':
      deps.stdout.write(images.map(({ reference }) => `${reference}\n`).join(''));
      return;
    case undefined:
      deps.stdout.write(tableOf(images));
  }
}

function tableOf(images: readonly StoredImage[]): string {
  const rows = images.map(({ reference, digest, sizeBytes }) => [
    reference,
    digest.slice(7, 19),
    formatBytes(Math.ceil(sizeBytes / MIB) * MIB),
  ]);
  return rows.length === 0 ? 'no images\n' : renderTable([['NAME', 'DIGEST', 'SIZE'], ...rows]);
}
