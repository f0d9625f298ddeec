/** Takes a name of an image away. */
import { normaliseReference } from '../../../../base/image-reference.ts';
import { openImageStore } from '../../../../images/store.ts';
import type { Deps } from '../../../deps.ts';
import { storeFolder } from '../store-folder.ts';

export async function run(deps: Deps, _flags: object, name: string): Promise<void> {
  openImageStore(storeFolder(deps)).remove(name);
  deps.stdout.write(`${normaliseReference(name)} removed\n`);
}
