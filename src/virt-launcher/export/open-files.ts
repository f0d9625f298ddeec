/**
 * The files of a volume that is no disk, to be read only: as one tar archive that is made while it is read, at any place of it, and each alone.
 * So an archive is as large as it will be, a part of it can be asked for, and a transfer that was interrupted goes on.
 */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync } from 'node:fs';
import { UserError } from '../../base/errors.ts';
import { openInRoot } from '../open-in-root.ts';
import { type FileLimits, listFiles, type VolumeFile } from './list-files.ts';
import { type OpenDisk, readAll } from './open-disk.ts';
import { paddingOf, TAR_END_BYTES, tarHeaderOf } from './tar-entry.ts';

export type FileTree = {
  /** A file, or the names in a folder, which end with a slash for folders; undefined for anything else. */
  find(path: string): { readonly file: OpenDisk } | { readonly names: readonly string[] } | undefined;
};
export type OpenFiles = OpenDisk & { readonly files: FileTree };

/** Undefined for a volume with nothing on it; a UserError for one that is refused. */
export function openFiles(folder: string, limits?: FileLimits): OpenFiles | undefined {
  const entries = listFiles(folder, limits);
  if (entries.length === 0) return undefined;
  const starts = startsOf(entries);
  const etag = etagOf(entries.map(({ path, stamp, mode }) => `${path} ${stamp} ${mode}\n`));
  return {
    sizeBytes: (starts.at(-1) ?? 0) + TAR_END_BYTES,
    etag: () => etag,
    read: (from, bytes) => readArchive({ folder, entries, starts }, from, bytes),
    close: () => {},
    files: treeOf(folder, entries),
  };
}

type Archive = { readonly folder: string; readonly entries: readonly VolumeFile[]; readonly starts: readonly number[] };

/** Where each entry begins in the archive, and at last where all of them end. */
function startsOf(entries: readonly VolumeFile[]): number[] {
  let at = 0;
  const starts = entries.map((entry) => {
    const start = at;
    at += tarHeaderOf(entry).length + entry.sizeBytes + paddingOf(entry.sizeBytes);
    return start;
  });
  return [...starts, at];
}

async function readArchive({ folder, entries, starts }: Archive, from: number, bytes: number): Promise<Buffer> {
  const to = from + bytes;
  const result = Buffer.alloc(bytes); // what nobody writes into is padding
  for (let index = indexAt(starts, from); index < entries.length && (starts[index] ?? to) < to; index++) {
    const [entry, start = 0] = [entries[index], starts[index]];
    if (!entry) break;
    const header = tarHeaderOf(entry);
    const content = start + header.length;
    if (from < content) header.copy(result, Math.max(0, start - from), Math.max(0, from - start));
    const [first, last] = [Math.max(from, content), Math.min(to, content + entry.sizeBytes)];
    if (first < last) (await readFrom(folder, entry, { from: first - content, bytes: last - first })).copy(result, first - from);
  }
  return result;
}

/** The last entry that does not begin behind this place. */
function indexAt(starts: readonly number[], at: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Step by step, without following a link; only what is still the file that was listed. */
async function readFrom(folder: string, { path, stamp }: VolumeFile, { from, bytes }: { from: number; bytes: number }): Promise<Buffer> {
  const file = openInRoot(folder, path);
  try {
    const { ino, size, mtimeNs } = fstatSync(file, { bigint: true });
    if (`${ino} ${size} ${mtimeNs}` !== stamp)
      throw new UserError('FILE_CHANGED', `${JSON.stringify(path)} was written to while the volume was read`);
    return await readAll(file, from, bytes);
  } finally {
    closeSync(file);
  }
}

function treeOf(folder: string, entries: readonly VolumeFile[]): FileTree {
  const byPath = new Map(entries.map((entry) => [entry.path, entry]));
  const inside = new Map<string, string[]>([['', []]]);
  for (const { path, type } of entries) {
    const cut = path.lastIndexOf('/');
    inside.get(path.slice(0, Math.max(cut, 0)))?.push(`${path.slice(cut + 1)}${type === 'folder' ? '/' : ''}`);
    if (type === 'folder') inside.set(path, []);
  }
  return {
    find(path) {
      const names = inside.get(path);
      if (names) return { names };
      const entry = byPath.get(path);
      if (entry?.type !== 'file') return undefined;
      const etag = etagOf([entry.stamp]);
      const read = (from: number, bytes: number) => readFrom(folder, entry, { from, bytes });
      return { file: { sizeBytes: entry.sizeBytes, etag: () => etag, read, close: () => {} } };
    },
  };
}

function etagOf(parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return `"${hash.digest('hex').slice(0, 32)}"`;
}
