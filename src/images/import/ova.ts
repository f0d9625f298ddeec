/**
 * The disk of a machine that another program has exported as an archive (OVA): a tar of plain files with a description (.ovf), disks, and a manifest of their digests, in
 * any order. Of several disks the first one of the description is taken. Links, folders and anything but plain files are refused.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { extract, type Header } from 'tar-stream';
import { UserError } from '../../base/errors.ts';
import { formatBytes } from '../../base/quantity.ts';
import { writeSparseFile } from '../sparse-file.ts';
import { type DiskLimits, SMALLER_DISK } from './decompress.ts';
import { type Digest, digestsIn, disksIn } from './ovf.ts';

type Options = {
  readonly path: string;
  /** What it is called, for people. */
  readonly name: string;
  /** Must not exist. */
  readonly into: string;
  readonly signal: AbortSignal;
  readonly limits: DiskLimits;
  /** Told what is not taken of it. */
  readonly onNote?: ((note: string) => void) | undefined;
};
type Content = AsyncIterable<Buffer>;
type Description = { readonly name: string; readonly text: Buffer };
type Found = { disk?: string; manifest?: Buffer };
/** What is done with one file of the archive: nothing, or what is left of it is not wanted either. */
type Visit = (file: string, content: Content) => Promise<'end' | 'skip' | 'taken'>;

const MOST_ENTRIES = 1000;
const MOST_TEXT_BYTES = 2 ** 20;
const MOST_NAMED = 10;
const MOST_NAME = 100;
const REPACK = 'pack its files again: tar --format=ustar -cf machine.ova machine.ovf and its disks';

/** Writes the disk as it is in the archive; a UserError when there is none, or it is not what the manifest says. */
export async function takeDiskOfOva(options: Options): Promise<void> {
  const { name, into, signal, onNote = () => {} } = options;
  const ovf = await findDescription(options);
  const disks = disksIn(ovf.text.toString('utf8'));
  if ('why' in disks) throw refused(name, disks.why);
  const { disk, manifest } = await takeFiles(options, disks.first);
  if (disk === undefined) throw refused(name, `it does not have ${quoted(disks.first[0])}, which its description names`);
  if (manifest) {
    const digests = digestsIn(manifest.toString('utf8'));
    await assertDigest({ name, file: ovf.name, content: [ovf.text], digest: digests.get(ovf.name) });
    await assertDigest({ name, file: disk, content: createReadStream(into, { signal }), digest: digests.get(disk) });
  }
  if (disks.others.length > 0) onNote(noteOf(name, disk, disks.others));
}

/** It is the first file as the standard has it, and then no more than it is read. */
async function findDescription(options: Options): Promise<Description> {
  let found: Description | undefined;
  await eachFile(options, async (file, content) => {
    if (!file.toLowerCase().endsWith('.ovf')) return 'skip';
    found = { name: file, text: await textOf(options.name, content) };
    return 'end';
  });
  if (found) return found;
  throw refused(options.name, 'it is an archive without the description of a machine (.ovf)', 'unpack it, and give the disk that is in it');
}

/** The first of these files that is there is the disk. */
async function takeFiles(options: Options, names: readonly string[]): Promise<Found> {
  const { name, into, limits } = options;
  const found: Found = {};
  await eachFile(options, async (file, content) => {
    if (found.disk === undefined && names.includes(file)) {
      await writeSparseFile({ path: into, content: bounded(content, limits), account: atMost(limits.dataBytes) });
      found.disk = file;
      return 'taken';
    }
    if (!file.toLowerCase().endsWith('.mf')) return 'skip';
    found.manifest = await textOf(name, content);
    return 'taken';
  });
  return found;
}

async function eachFile({ path, name, signal }: Options, visit: Visit): Promise<void> {
  const entries = extract();
  let hasEnded = false;
  const visited = (async () => {
    let count = 0;
    for await (const entry of entries) {
      const file = entry.header.name.replace(/^\.\//, '');
      const why = count++ === MOST_ENTRIES ? 'one too many' : whyNotFile(entry.header, file);
      if (why !== undefined) throw refused(name, `its entry ${quoted(file)} is ${why}`, REPACK);
      const next = await visit(file, entry as Content);
      hasEnded = next === 'end';
      if (hasEnded) return;
      if (next === 'skip') entry.resume();
    }
  })();
  // tar-stream's Writable is one of its own make, which node's types do not know
  const piped = pipeline(createReadStream(path), entries as unknown as NodeJS.WritableStream, { signal });
  const ends = await Promise.allSettled([visited, piped]);
  signal.throwIfAborted();
  const errors = ends.flatMap((end): Error[] => (end.status === 'rejected' ? [end.reason] : []));
  // When one gives up, or has what it wants, the other is only cut off.
  const [error] = errors.toSorted((a, b) => Number(isTelling(b)) - Number(isTelling(a)));
  if (error === undefined || (hasEnded && !isTelling(error))) return;
  throw isTelling(error)
    ? error
    : new UserError('DISK_DAMAGED', `${name} cannot be unpacked`, { why: error.message, fix: 'get the file again', cause: error });
}

function whyNotFile({ type, pax }: Header, file: string): string | undefined {
  if (type === null || Object.keys(pax ?? {}).some((key) => key.startsWith('GNU.sparse.')))
    return 'of a kind that only GNU tar knows, such as a file whose holes are left out (sparse)';
  if (type !== 'file') return `a ${type}`;
  return file.includes('/') ? 'in a folder' : undefined;
}

function noteOf(name: string, disk: string, others: readonly string[]): string {
  const named = others.slice(0, MOST_NAMED).map(quoted).join(', ');
  const rest = others.length > MOST_NAMED ? ` and ${others.length - MOST_NAMED} more` : '';
  return `${name} has ${others.length + 1} disks: ${quoted(disk)} is taken, ${named}${rest} ${others.length === 1 ? 'is' : 'are'} not; tar -xf unpacks the archive, and each disk can be imported alone`;
}

function quoted(text = ''): string {
  return JSON.stringify(text.slice(0, MOST_NAME));
}

function isTelling(error: Error): boolean {
  return error instanceof UserError || 'syscall' in error;
}

async function textOf(name: string, content: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > MOST_TEXT_BYTES) throw refused(name, `its description or manifest has more than ${formatBytes(MOST_TEXT_BYTES)}`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function* bounded(content: AsyncIterable<Buffer>, { sizeBytes }: DiskLimits): AsyncIterable<Buffer> {
  const account = atMost(sizeBytes);
  for await (const chunk of content) {
    account(chunk.length);
    yield chunk;
  }
}

function atMost(mostBytes: number): (bytes: number) => void {
  let sum = 0;
  return (bytes) => {
    sum += bytes;
    if (sum > mostBytes)
      throw new UserError('DISK_TOO_LARGE', 'the disk in the archive is refused', {
        why: `it has more than ${formatBytes(mostBytes)}`,
        fix: SMALLER_DISK,
      });
  };
}

type Checked = {
  readonly name: string;
  readonly file: string;
  readonly content: AsyncIterable<Buffer> | Iterable<Buffer>;
  readonly digest: Digest | undefined;
};

async function assertDigest({ name, file, content, digest }: Checked): Promise<void> {
  if (!digest) throw refused(name, `its manifest does not have ${quoted(file)}`);
  const hash = createHash(digest.algorithm);
  for await (const chunk of content) hash.update(chunk);
  const hex = hash.digest('hex');
  if (hex === digest.hex) return;
  throw new UserError('DIGEST_MISMATCH', `${file} in ${name} is not what its manifest says`, {
    why: `it has the ${digest.algorithm} ${hex.slice(0, 12)}, not ${digest.hex.slice(0, 12)}`,
    fix: 'get the file again',
  });
}

function refused(
  name: string,
  why: string,
  fix = 'export the machine again, or unpack the archive with tar -xf and give the disk',
): UserError {
  return new UserError('OVA_REFUSED', `${name} is no machine whose disk can be taken`, { why, fix });
}
