/** What a PVC holds, to be read only: the disk of a machine, or files. */
import { UserError } from '../../base/errors.ts';
import { type DiskOptions, type OpenDisk, openExportedDisk } from './open-disk.ts';
import { type FileTree, openFiles } from './open-files.ts';

/** With `files`, the bytes are those of a tar archive of them. */
export type OpenVolume = OpenDisk & { readonly files?: FileTree };

/** A UserError when there is nothing, or nothing that can be read. */
export async function openExportedVolume(options: DiskOptions): Promise<OpenVolume> {
  try {
    return await openExportedDisk(options);
  } catch (error) {
    const files = error instanceof UserError && error.code === 'NO_DISK' && !options.isDevice ? openFiles(options.folder) : undefined;
    if (files) return files;
    throw error;
  }
}
