/** Brings a disk or an image from this machine into the embedded cluster. */

import { normaliseReference } from '../../../../base/image-reference.ts';
import { importImage } from '../../../../images/import-file.ts';
import { openImageStore } from '../../../../images/store.ts';
import type { Deps } from '../../../deps.ts';
import { storeFolder } from '../store-folder.ts';

export async function run(deps: Deps, _flags: object, path: string, name: string): Promise<void> {
  openImageStore(storeFolder(deps));
  const { digest } = await importImage({ storeDir: storeFolder(deps), path, reference: name });
  deps.stdout.write(`${normaliseReference(name)} imported, ${digest.slice(7, 19)}\n`);
}
