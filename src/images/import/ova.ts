/**
 * The disk of a machine that another program has exported as an archive (OVA): a tar with a description (.ovf) first, disks, and a manifest of their digests
 * that may come before or after them. Of several disks the first one of the description is taken. Links, folders and anything but plain files are refused.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { extract } from 'tar-stream';
import { UserError } from '../../base/errors.ts';
import { formatBytes } from '../../base/quantity.ts';
import { writeSparseFile } from '../sparse-file.ts';
import type { DiskLimits } from './decompress.ts';
import { type Digest, digestsIn, diskFileIn } from './ovf.ts';

type Options = {
  readonly path: string;
  /** What it is called, for people. */
  readonly name: string;
  /** Must not exist. */
  readonly into: string;
  readonly signal: AbortSignal;
  readonly limits: DiskLimits;
};
type Found = { ovf?: { readonly name: string; readonly text: Buffer }; disk?: string; hasDisk?: boolean; manifest?: Buffer };

const MOST_ENTRIES = 1000;
const MOST_TEXT_BYTES = 2 ** 20;

/** True for a tar whose first file is a description of a machine. */
export function isOva(start: Buffer): boolean {
  const [name = ''] = start.toString('latin1', 0, 100).split('\0');
  return start.toString('latin1', 257, 262) === 'ustar' && name.toLowerCase().endsWith('.ovf');
}

/** Writes the disk as it is in the archive; a UserError when there is none, or it is not what the manifest says. */
export async function takeDiskOfOva(options: Options): Promise<void> {
  const { name, into, signal } = options;
  const found = await read(options);
  if (!found.hasDisk) throw refused(name, `it does not have ${JSON.stringify(found.disk?.slice(0, 100))}, which its description names`);
  if (!found.manifest || !found.ovf) return;
  const digests = digestsIn(found.manifest.toString('utf8'));
  const { ovf, disk = '' } = found;
  await assertDigest({ name, file: ovf.name, content: [ovf.text], digest: digests.get(ovf.name) });
  await assertDigest({ name, file: disk, content: createReadStream(into, { signal }), digest: digests.get(disk) });
}

async function read({ path, name, into, signal, limits }: Options): Promise<Found> {
  const entries = extract();
  const found: Found = {};
  const taken = (async () => {
    let count = 0;
    for await (const entry of entries) {
      const { type } = entry.header;
      const file = entry.header.name.replace(/^\.\//, '');
      count++;
      if (type !== 'file' || file.includes('/') || count > MOST_ENTRIES)
        throw refused(
          name,
          `its entry ${JSON.stringify(file.slice(0, 100))} is ${type === 'file' ? 'one too many, or in a folder' : `a ${type}`}`,
        );
      const content = entry as AsyncIterable<Buffer>;
      if (!found.ovf) {
        found.ovf = { name: file, text: await textOf(name, content) };
        const disk = diskFileIn(found.ovf.text.toString('utf8'));
        if ('why' in disk) throw refused(name, disk.why);
        found.disk = disk.name;
      } else if (file === found.disk && !found.hasDisk) {
        await writeSparseFile({ path: into, content: bounded(content, limits), account: atMost(limits.dataBytes) });
        found.hasDisk = true;
      } else if (file.toLowerCase().endsWith('.mf')) found.manifest = await textOf(name, content);
      else entry.resume();
    }
  })();
  // tar-stream's Writable is one of its own make, which node's types do not know
  const piped = pipeline(createReadStream(path), entries as unknown as NodeJS.WritableStream, { signal });
  const ends = await Promise.allSettled([taken, piped]);
  signal.throwIfAborted();
  const errors = ends.flatMap((end): Error[] => (end.status === 'rejected' ? [end.reason] : []));
  // When one gives up the other is only cut off.
  const [error] = errors.toSorted((a, b) => Number(isTelling(b)) - Number(isTelling(a)));
  if (error === undefined) return found;
  throw isTelling(error) ? error : new UserError('DISK_DAMAGED', `${name} cannot be unpacked`, { why: error.message, cause: error });
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
      throw new UserError('DISK_TOO_LARGE', 'the disk in the archive is refused', { why: `it has more than ${formatBytes(mostBytes)}` });
  };
}

type Checked = {
  readonly name: string;
  readonly file: string;
  readonly content: AsyncIterable<Buffer> | Iterable<Buffer>;
  readonly digest: Digest | undefined;
};

async function assertDigest({ name, file, content, digest }: Checked): Promise<void> {
  if (!digest) throw refused(name, `its manifest does not have ${JSON.stringify(file.slice(0, 100))}`);
  const hash = createHash(digest.algorithm);
  for await (const chunk of content) hash.update(chunk);
  const hex = hash.digest('hex');
  if (hex === digest.hex) return;
  throw new UserError('DIGEST_MISMATCH', `${file} in ${name} is not what its manifest says`, {
    why: `it has the ${digest.algorithm} ${hex.slice(0, 12)}, not ${digest.hex.slice(0, 12)}`,
    fix: 'get the file again',
  });
}

function refused(name: string, why: string): UserError {
  return new UserError('OVA_REFUSED', `${name} is no machine whose disk can be taken`, { why });
}
