/** Takes what an export has of one PVC to a file, or to the standard output: a disk, or an archive of files. */
import { resolve } from 'node:path';
import type { VirtualMachineExport } from '../../api/kubevirt/kinds/vm-export.ts';
import { progressOf as wordsOf } from '../../sdk/upload/transfer-progress.ts';
import { progressOf } from '../commands/image/interruptible.ts';
import type { ClusterDeps } from '../deps.ts';
import { hasFiles, usage, volumeIn } from './export-object.ts';
import { type DiskFormat, saveDisk, unpackedPiece } from './save-disk.ts';
import { takePieces } from './take-pieces.ts';

export type OpenExport = { readonly exported: VirtualMachineExport; readonly token: string; readonly signal: AbortSignal };
export type TakeFlags = { readonly output?: string; readonly volume?: string; readonly format: DiskFormat };

const FORMATS: readonly DiskFormat[] = ['gzip', 'raw'];

/** A UserError for one that there is not. */
export function checkedFormat(format = 'gzip'): DiskFormat {
  const known = FORMATS.find((each) => each === format);
  if (known) return known;
  throw usage(`${format} is not gzip or raw`, '--format raw');
}

/** Resolves when the file is whole. */
export async function takeVolume(deps: ClusterDeps, flags: TakeFlags, { exported, token, signal }: OpenExport): Promise<void> {
  const { client, clock, namespace, stdout } = deps;
  const volume = volumeIn(exported, flags.volume);
  const source = { client, clock, namespace, name: exported.metadata.name, volume, token, signal };
  const { output = '-', format } = flags;
  if (output === '-') {
    for await (const piece of takePieces(source, undefined))
      await written(stdout, format === 'raw' ? await unpackedPiece(piece) : piece.packed);
    return;
  }
  const path = resolve(deps.workingFolder, output);
  await progressOf(deps).step('download', async ({ update }) => {
    const startedAtMs = clock.steady();
    const onProgress = (progress: Parameters<typeof wordsOf>[0]) =>
      update(wordsOf({ ...progress, elapsedMs: clock.steady() - startedAtMs }));
    await saveDisk({ ...source, path, format, onProgress });
    return volume;
  });
  const what = hasFiles(exported, volume)
    ? `has the files of ${volume}, as ${format === 'raw' ? 'tar' : 'tar.gz'}`
    : `is the disk of ${volume}`;
  stdout.write(`${output} ${what}\n`);
}

function written(stdout: NodeJS.WritableStream, bytes: Buffer): Promise<void> {
  return new Promise((done, failed) => stdout.write(bytes, (error) => (error ? failed(error) : done())));
}
