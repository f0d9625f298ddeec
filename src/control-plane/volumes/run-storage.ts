/** The storage of the embedded cluster: volumes of class `local`, and snapshots of them, with one set of copies between them. */
import { FolderCopies } from './folder-copies.ts';
import { runVolumes, type VolumesOptions } from './run.ts';
import { runSnapshots } from './run-snapshots.ts';

/** Runs until the signal aborts; a copy that is under way then is begun again by the next who runs. */
export async function runStorage(options: Omit<VolumesOptions, 'copies'>): Promise<void> {
  const copies = new FolderCopies(options.clock);
  await Promise.all([runVolumes({ ...options, copies }), runSnapshots({ ...options, copies })]);
  await copies.stop();
}
