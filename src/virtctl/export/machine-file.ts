/**
 * One file with a machine and its disks, a plain tar archive:
 *
 *   machine.json        the machine, and which disk is which PVC
 *   disks/0.img.gz      its disks, compressed
 *   index.json          names, sizes and SHA-256 of all that comes before; the last, so that a file without its end is none
 */
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { subdomainCauses } from '../../base/dns-name-causes.ts';
import { isObject } from '../../base/json.ts';
import { writeAll } from '../../images/sparse-file.ts';
import { BLOCK, damaged, paddedBytes, readTarHeader, tarHeader } from './tar-header.ts';

export type KeptDisk = {
  /** The PVC that it was. */
  readonly name: string;
  /** As its guest sees it. */
  readonly diskBytes: number;
};
export type KeptMachine = {
  readonly format: typeof FORMAT;
  readonly machine: Pick<VirtualMachine, 'metadata' | 'spec'>;
};
export type IndexEntry = { readonly name: string; readonly bytes: number; readonly sha256: string };
type Index = { readonly entries: readonly IndexEntry[]; readonly disks: readonly KeptDisk[] };
/** Where the bytes of an entry are. */
export type Part = IndexEntry & { readonly at: number };
export type MachineFile = KeptMachine & { readonly disks: readonly (KeptDisk & { readonly part: Part })[] };

const FORMAT = 'kubevirt-ts machine 1';
const MACHINE = 'machine.json';
const INDEX = 'index.json';
const MOST_DISKS = 64;
const MOST_DISK_BYTES = 64 * 2 ** 40;
const MOST_TEXT_BYTES = 2 ** 20;
const READ_BYTES = 4 * 2 ** 20;

/** Writes such a file from its beginning to its end. */
export class MachineFileWriter {
  readonly #file: FileHandle;
  readonly #entries: IndexEntry[] = [];
  readonly #disks: KeptDisk[] = [];
  #at = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  machine(machine: KeptMachine['machine']): Promise<void> {
    return this.#text(MACHINE, { format: FORMAT, machine } satisfies KeptMachine);
  }

  /** Its size is known when it is there: its header is written last. */
  async disk(name: string, content: AsyncIterable<{ readonly packed: Buffer; readonly totalBytes: number }>): Promise<void> {
    const hash = createHash('sha256');
    let bytes = 0;
    let diskBytes = 0;
    for await (const { packed, totalBytes } of content) {
      await writeAll(this.#file, packed, this.#at + BLOCK + bytes);
      hash.update(packed);
      bytes += packed.length;
      diskBytes = totalBytes;
    }
    await this.#close({ name: `disks/${this.#disks.length}.img.gz`, bytes, sha256: hash.digest('hex') });
    this.#disks.push({ name, diskBytes });
  }

  async end(): Promise<void> {
    await this.#text(INDEX, { entries: [...this.#entries], disks: this.#disks } satisfies Index);
    await this.#file.truncate(this.#at + 2 * BLOCK);
    await this.#file.sync();
  }

  async #text(name: string, value: object): Promise<void> {
    const text = Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`);
    await writeAll(this.#file, text, this.#at + BLOCK);
    await this.#close({ name, bytes: text.length, sha256: createHash('sha256').update(text).digest('hex') });
  }

  async #close(entry: IndexEntry): Promise<void> {
    await writeAll(this.#file, tarHeader(entry), this.#at);
    this.#entries.push(entry);
    this.#at += BLOCK + paddedBytes(entry.bytes);
    await this.#file.truncate(this.#at);
  }
}

/** What is in such a file, when all of it is there and what its index says; a UserError otherwise. */
export async function readMachineFile(path: string, signal: AbortSignal): Promise<MachineFile> {
  const file = await open(path);
  try {
    const found = await entriesOf(file);
    const last = found.at(-1);
    if (found[0]?.name !== MACHINE || last?.name !== INDEX) throw damaged('its beginning or its end is missing');
    const index = indexIn(await textOf(file, last));
    const parts = partsOf(found.slice(0, -1), index);
    for (const part of parts) if ((await digestOf(file, part, signal)) !== part.sha256) throw damaged(`${part.name} is not what it was`);
    const [machine, ...disks] = parts;
    const kept = machineIn(await textOf(file, machine as Part)); // its name was looked at above
    return { ...kept, disks: disks.flatMap((part, at) => (index.disks[at] ? [{ ...index.disks[at], part }] : [])) };
  } finally {
    await file.close();
  }
}

type Found = { readonly name: string; readonly bytes: number; readonly at: number };

async function entriesOf(file: FileHandle): Promise<Found[]> {
  const { size } = await file.stat();
  const found: Found[] = [];
  for (let at = 0; ; ) {
    if (at + BLOCK > size) throw damaged('its end is missing');
    const { buffer } = await file.read(Buffer.alloc(BLOCK), 0, BLOCK, at);
    const entry = readTarHeader(buffer);
    if (!entry) return found;
    if (entry.bytes > size - at - BLOCK) throw damaged('its end is missing');
    if (found.length > MOST_DISKS + 2) throw damaged('it has too many entries');
    found.push({ ...entry, at: at + BLOCK });
    at += BLOCK + paddedBytes(entry.bytes);
  }
}

/** Exactly what the index names, in its order, under the names that we give. */
function partsOf(found: readonly Found[], { entries, disks }: Index): Part[] {
  if (entries.length !== found.length || disks.length !== found.length - 1) throw damaged('its index is that of another file');
  return found.map((each, at) => {
    const entry = entries[at];
    const due = at === 0 ? MACHINE : `disks/${at - 1}.img.gz`;
    if (!entry || each.name !== due || entry.name !== due || entry.bytes !== each.bytes) throw damaged('its index is that of another file');
    return { ...entry, at: each.at };
  });
}

function indexIn(json: unknown): Index {
  const isEntry = (each: unknown) =>
    isObject(each) &&
    typeof each['name'] === 'string' &&
    Number.isSafeInteger(each['bytes']) &&
    /^[0-9a-f]{64}$/.test(String(each['sha256']));
  const isDisk = (each: unknown) =>
    isObject(each) &&
    typeof each['name'] === 'string' &&
    subdomainCauses('name', each['name']).length === 0 &&
    Number.isSafeInteger(each['diskBytes']) &&
    Number(each['diskBytes']) > 0 &&
    Number(each['diskBytes']) <= MOST_DISK_BYTES;
  if (!isObject(json) || !Array.isArray(json['entries']) || !Array.isArray(json['disks'])) throw damaged('it has no index');
  if (!json['entries'].every(isEntry) || !json['disks'].every(isDisk)) throw damaged('its index makes no sense');
  const names = json['disks'].map(({ name }) => name);
  if (new Set(names).size !== names.length) throw damaged('its index names a disk twice');
  return json as Index; // as just checked
}

function machineIn(json: unknown): KeptMachine {
  const { format, machine } = isObject(json) ? json : {};
  const { metadata, spec } = isObject(machine) ? machine : {};
  if (format !== FORMAT) throw damaged(`it is not of the kind "${FORMAT}"`);
  if (!isObject(metadata) || typeof metadata['name'] !== 'string' || !isObject(spec) || !isObject(spec['template']))
    throw damaged('it has no machine');
  return json as KeptMachine; // what is in it the cluster looks at
}

async function textOf(file: FileHandle, { bytes, at }: Found): Promise<unknown> {
  if (bytes > MOST_TEXT_BYTES) throw damaged('its description is too long');
  const { buffer } = await file.read(Buffer.alloc(bytes), 0, bytes, at);
  try {
    return JSON.parse(buffer.toString('utf8'));
  } catch {
    throw damaged('its description is no JSON');
  }
}

async function digestOf(file: FileHandle, { bytes, at }: Found, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for (let done = 0; done < bytes; ) {
    signal.throwIfAborted();
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(Math.min(READ_BYTES, bytes - done)),
      0,
      Math.min(READ_BYTES, bytes - done),
      at + done,
    );
    if (bytesRead === 0) throw damaged('its end is missing');
    hash.update(buffer.subarray(0, bytesRead));
    done += bytesRead;
  }
  return hash.digest('hex');
}
