/** Brings the disk that somebody named into the store of the embedded cluster, and says under which name it is there. */
import { createHash } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { standInFor } from '../../api/kubevirt/stand-ins.ts';
import { isLocalOnly } from '../../base/image-reference.ts';
import { openDownloadCache } from '../../images/import/download-cache.ts';
import { importDisk } from '../../images/import/import-disk.ts';
import { importUrl, type UrlSource } from '../../images/import/import-url.ts';
import { NAME_ANNOTATION, readIndex } from '../../images/layout.ts';
import { openImageStore } from '../../images/store.ts';
import type { Deps } from '../deps.ts';
import type { Progress } from '../progress.ts';
import { importProgress } from './import-progress.ts';
import { pullNamed } from './pull-named.ts';
import type { ResolvedImage } from './resolve-image.ts';

type Options = {
  readonly image: ResolvedImage;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** How much of what was downloaded is kept. */
  readonly cacheBytes: number;
};
type Work = Options & { readonly storeDir: string; readonly update: (text: string) => void };

/** So many characters of a digest tell disks apart, by chance and by intent. */
const TELLING = 20;

/** The name of the image in the store; it is shown as a step, unless there was nothing to do. */
export async function obtainImage(deps: Deps, options: Options): Promise<string> {
  const { source } = options.image;
  const storeDir = join(deps.home, 'images');
  const store = openImageStore(storeDir);
  if (source.is === 'image') {
    const { reference } = source;
    const isHere = isLocalOnly(reference) || store.resolve(reference) !== undefined || standInFor(reference) !== undefined;
    if (isHere) return reference;
  }
  let reference = '';
  await options.progress.step('image', async ({ update }) => {
    const work = { ...options, storeDir, update };
    const notes: string[] = [];
    reference = await bring(deps, work, (note) => notes.push(note));
    return notes.length === 0 ? reference : { warning: [reference, ...notes].join('; ') };
  });
  return reference;
}

function bring(deps: Deps, work: Work, onNote: (note: string) => void): Promise<string> {
  const { source } = work.image;
  switch (source.is) {
    case 'url':
      return fromAddress(deps, work, source.at, onNote);
    case 'file':
      return fromFile(deps, work, source.path, onNote);
    case 'image':
      return pullNamed(deps, { ...work, reference: source.reference });
  }
}

async function fromAddress(deps: Deps, work: Work, source: UrlSource, onNote: (note: string) => void): Promise<string> {
  const { cache, clock, env } = deps;
  const { storeDir, signal, cacheBytes, image } = work;
  const { reference } = await importUrl({
    ...{ source, storeDir, signal, onNote, compression: 'zstd', searchPath: env['PATH'] },
    downloads: openDownloadCache({ cache, clock, maxBytes: cacheBytes }),
    nameFor: (digest) => nameIn(image, digest.split(':')[1] ?? ''),
    // The index of a store is in the order in which images came.
    lastKnown: () => namesOf(storeDir).findLast((name) => name.startsWith(nameIn(image, ''))),
    ...importProgress(clock, work.update),
  });
  return reference;
}

/** The name follows from which file it is and when it was written, so that a disk that is here already is not read again. */
async function fromFile(deps: Deps, work: Work, path: string, onNote: (note: string) => void): Promise<string> {
  const { storeDir, signal, image } = work;
  const real = await realpath(path);
  const { dev, ino, size, mtimeMs } = await stat(real);
  const reference = nameIn(
    image,
    createHash('sha256')
      .update(JSON.stringify([real, dev, ino, size, mtimeMs]))
      .digest('hex'),
  );
  if (openImageStore(storeDir).resolve(reference)) return reference;
  const { onStage } = importProgress(deps.clock, work.update);
  await importDisk({
    ...{ storeDir, path: real, name: path, reference, signal, onStage, onNote },
    compression: 'zstd',
    searchPath: deps.env['PATH'],
  });
  return reference;
}

function namesOf(storeDir: string): string[] {
  return readIndex(storeDir).flatMap(({ annotations }) => annotations?.[NAME_ANNOTATION] ?? []);
}

function nameIn({ storeName }: ResolvedImage, hex: string): string {
  return `localhost/${storeName}${hex.slice(0, TELLING)}`;
}
