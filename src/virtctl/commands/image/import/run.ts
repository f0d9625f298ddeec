/** Brings a disk or an image from this machine into the embedded cluster. */

import { normaliseReference } from '../../../../base/image-reference.ts';
import { importImage } from '../../../../images/import-file.ts';
import { openImageStore } from '../../../../images/store.ts';
import type { Deps } from '../../../deps.ts';
import { createProgress } from '../../../progress.ts';
import { progressOf } from '../../../transfer-progress.ts';
import { storeFolder } from '../store-folder.ts';

export async function run(deps: Deps, _flags: object, path: string, name: string): Promise<void> {
  const storeDir = storeFolder(deps);
  openImageStore(storeDir);
  const reference = normaliseReference(name);
  const { digest } = await shown(deps, (update) =>
    importImage({ storeDir, path, reference, onRead: (bytes, of) => update(progressOf({ doneBytes: bytes, totalBytes: of })) }),
  );
  deps.stdout.write(`${reference} imported, ${digest.slice(7, 19)}\n`);
}

/** How far it is, for whoever looks on; a script has its line when all is done. */
async function shown<T>({ stderr, clock, env }: Deps, work: (update: (text: string) => void) => Promise<T>): Promise<T> {
  if (!stderr.isTTY) return work(() => {});
  let result: Promise<T> | undefined;
  await createProgress(stderr, clock, env).step('import', async ({ update }) => {
    result = work(update);
    await result;
    return 'done';
  });
  return result as Promise<T>; // the step has run
}
