/** One more name for an image. */
import { normaliseReference } from '../../../../base/image-reference.ts';
import { openImageStore } from '../../../../images/store.ts';
import type { Deps } from '../../../deps.ts';
import { storeFolder } from '../store-folder.ts';

export async function run(deps: Deps, _flags: object, source: string, target: string): Promise<void> {
  openImageStore(storeFolder(deps)).tag(source, target);
  deps.stdout.write(`${normaliseReference(target)} is ${normaliseReference(source)}\n`);
}
