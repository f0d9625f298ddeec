/**
 * Unpacks image layers as the root filesystem of containers. What `unpack.ts` says of names, sizes and whiteouts holds here, too; beyond that:
 *
 *   entry                     what happens
 *   regular file, directory   made with its mode and owner; set-id bits and file capabilities are dropped
 *   symbolic link             made as it is: it means something inside of the container alone
 *   hard link                 made when it names a file of the image
 *   device, FIFO              left out: a container gets the harmless ones from the runtime
 *
 * A path that leads through a link is followed inside of the root, step by step, as the container would; none is left to the kernel to
 * follow, which would begin at the root of the host.
 */
import { chmod, chown, lchown, link, lstat, readlink, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { writeSparseFile } from './sparse-file.ts';
import { type ApplyEntry, type Budget, type Entry, makeFolders, partsOf, quote, refuse, takeAway, WHITEOUT } from './unpack.ts';

/** Who owns the files on the host: user and group 0 of the image are this user and group, the others follow; undefined when all are ours. */
export type Shift = { readonly uid: number; readonly gid: number; readonly count: number };

const MAX_DEPTH = 128;
const MAX_LINKS = 40;
const MAX_LINK_BYTES = 4096;
const STICKY = 0o1000;

/** How the entries of a root filesystem are made. */
export function rootEntries(shift: Shift | undefined): ApplyEntry {
  return async ({ entry, into, budget, written }) => {
    const { name, type, size = 0, pax } = entry.header;
    const named = partsOf(name, MAX_DEPTH);
    const base = named.at(-1);
    if (pax && Object.keys(pax).some((key) => key.startsWith('GNU.sparse'))) throw refuse(`entry ${quote(name)} is in GNU sparse format`);
    if (size > budget.maxBytes) throw refuse(`entry ${quote(name)} claims ${size} bytes, the limit is ${budget.maxBytes}`);
    if (base === undefined) return; // the root itself
    const parent = await followInside(into, named.slice(0, -1));
    const parts = [...parent, base];
    if (base.startsWith(WHITEOUT)) return takeAway({ into, parts, base, written });
    const place: Place = { into, parts, name, written, path: join(into, ...parts), shift };
    if (type === 'directory' || (type === 'file' && name.endsWith('/'))) return makeFolder(entry, place);
    switch (type) {
      case 'file':
      case 'contiguous-file':
        await clear(place);
        await writeFile(entry, place, budget);
        return own(entry, place);
      case 'symlink':
        if (Buffer.byteLength(entry.header.linkname ?? '') > MAX_LINK_BYTES) throw refuse(`entry ${quote(name)} has too long a target`);
        await clear(place);
        await symlink(entry.header.linkname ?? '', place.path);
        return own(entry, place);
      case 'link':
        return makeHardLink(entry, place);
      default:
        return; // a device or a FIFO
    }
  };
}

type Place = {
  readonly into: string;
  readonly parts: readonly string[];
  readonly name: string;
  readonly written: Set<string>;
  readonly path: string;
  readonly shift: Shift | undefined;
};

/** Where a path of the image leads when every link in it is followed inside of the root; what is not there is taken as it is. */
export async function followInside(root: string, parts: readonly string[]): Promise<string[]> {
  const ahead = [...parts];
  const done: string[] = [];
  for (let links = 0; ahead.length > 0; ) {
    const part = ahead.shift() ?? '';
    if (part === '' || part === '.') continue;
    if (part === '..') {
      done.pop(); // above the root is the root
      continue;
    }
    const path = join(root, ...done, part);
    const found = await lstat(path).catch(() => undefined);
    if (!found?.isSymbolicLink()) {
      done.push(part);
      continue;
    }
    if (++links > MAX_LINKS) throw refuse(`${quote(parts.join('/'))} leads through more than ${MAX_LINKS} links`);
    const target = await readlink(path);
    if (target.startsWith('/')) done.length = 0;
    ahead.unshift(...target.split('/'));
    if (ahead.length > MAX_LINK_BYTES) throw refuse(`${quote(parts.join('/'))} leads through links without an end`);
  }
  return done;
}

async function makeFolder(entry: Entry, place: Place): Promise<void> {
  const { into, parts, name, written, path } = place;
  const followed = await followInside(into, parts);
  // A folder that a lower layer has as a link to a folder stays that link.
  const target = followed.join('/') === parts.join('/') ? parts : followed;
  await makeParents({ ...place, parts: target });
  await makeFolders({ into, parts: target, name, written });
  if (target === parts) await own(entry, { ...place, path });
}

async function makeParents({ into, parts, name, written, shift }: Omit<Place, 'path'>): Promise<void> {
  for (let depth = 1; depth < parts.length; depth++) {
    const path = join(into, ...parts.slice(0, depth));
    if (await lstat(path).catch(() => undefined)) continue;
    await makeFolders({ into, parts: parts.slice(0, depth), name, written });
    if (shift) await chown(path, shift.uid, shift.gid);
  }
}

/** Makes room: what a lower layer, or an earlier entry, has here is replaced as a whole. */
async function clear(place: Place): Promise<void> {
  await makeParents(place);
  await makeFolders({ into: place.into, parts: place.parts.slice(0, -1), name: place.name, written: place.written });
  await rm(place.path, { recursive: true, force: true });
  place.written.add(place.parts.join('/'));
}

async function writeFile(entry: Entry, { path, name }: Place, budget: Budget): Promise<void> {
  const { size = 0 } = entry.header;
  const { sizeBytes } = await writeSparseFile({
    path,
    content: entry,
    account(bytes) {
      budget.dataBytes += bytes;
      if (budget.dataBytes > budget.maxDataBytes) throw refuse(`it holds more than ${budget.maxDataBytes} bytes of data`);
    },
  });
  if (sizeBytes !== size) throw refuse(`entry ${quote(name)} ends after ${sizeBytes} of ${size} bytes`);
}

async function makeHardLink(entry: Entry, place: Place): Promise<void> {
  const { into, name, path } = place;
  const named = partsOf((entry.header.linkname ?? '').replace(/^\/+/, ''), MAX_DEPTH);
  const base = named.at(-1);
  const target = base === undefined ? into : join(into, ...(await followInside(into, named.slice(0, -1))), base);
  const found = await lstat(target).catch(() => undefined);
  if (!found || found.isDirectory())
    throw refuse(`entry ${quote(name)} is a link to ${quote(entry.header.linkname ?? '')}, which is no file`);
  if (target === path) return;
  await clear(place);
  await link(target, path);
}

/** Set-id bits are dropped: they would be of use only to whoever is not to have their user. */
async function own(entry: Entry, { path, shift }: Place): Promise<void> {
  const { type, mode = 0o755, uid = 0, gid = 0 } = entry.header;
  if (shift) await lchown(path, shift.uid + idWithin(uid, shift), shift.gid + idWithin(gid, shift));
  if (type === 'symlink') return;
  const isFolder = type === 'directory';
  // Without users of its own everything is ours, and what we could not read we could not remove again either.
  await chmod(path, (mode & (isFolder ? STICKY | 0o777 : 0o777)) | (shift ? 0 : isFolder ? 0o700 : 0o600));
}

/** Ids that there is no room for are one of nobody. */
export function idWithin(id: number, { count }: Pick<Shift, 'count'>): number {
  return id >= 0 && id < count ? id : count - 2;
}
