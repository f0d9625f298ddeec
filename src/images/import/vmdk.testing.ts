/** VMDK disks for tests that say they are one file and lead to others. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SECTOR = 512;
const DESCRIPTOR_BYTES = 20 * SECTOR;
const DESCRIPTOR_AT = 28;
const TABLE_AT = 56;
const FOOTER_MARKER = 3;
export const SECRET = 'SECRET of this machine. '.padEnd(64, '!');

/** A file that is no disk to be had, an empty VMDK and a streamOptimized one with content, all of a megabyte. */
export function makeVmdks(dir: string): { readonly secret: string; readonly empty: Buffer; readonly streamed: Buffer } {
  const secret = join(dir, 'secret.img');
  writeFileSync(secret, SECRET.repeat(2 ** 20 / SECRET.length));
  execFileSync('qemu-img', ['create', '-q', '-f', 'vmdk', join(dir, 'empty.vmdk'), '1M']);
  const [raw, streamed] = [join(dir, 'content.raw'), join(dir, 'streamed.vmdk')];
  writeFileSync(raw, Buffer.alloc(2 ** 20, 'disk'));
  execFileSync('qemu-img', ['convert', '-f', 'raw', '-O', 'vmdk', '-o', 'subformat=streamOptimized', raw, streamed]);
  return { secret, empty: readFileSync(join(dir, 'empty.vmdk')), streamed: readFileSync(streamed) };
}

/** Its own descriptor, where every one has it, is written anew; the rest is zeros, as QEMU leaves it. */
export function withDescriptor(vmdk: Buffer, descriptor: string): Buffer {
  const bytes = Buffer.from(vmdk);
  bytes.fill(0, SECTOR, SECTOR + DESCRIPTOR_BYTES).write(descriptor, SECTOR, 'latin1');
  return bytes;
}

/** The text of its descriptor. */
export function descriptorOf(vmdk: Buffer): string {
  return vmdk.toString('latin1', SECTOR, SECTOR + DESCRIPTOR_BYTES).split('\0')[0] ?? '';
}

/** The harmless descriptor is where the header says; where QEMU looks, a parent that is another VMDK within this very file, all of whose content is another file. */
export function withHiddenParent(vmdk: Buffer, { path, secret }: { path: string; secret: string }): Buffer {
  const harmless = sectors(vmdk);
  const inner = harmless.length + DESCRIPTOR_BYTES;
  const parent = `json:{'driver':'vmdk','file':{'driver':'raw','offset':${inner},'size':1024,'file':{'driver':'file','filename':'${path}'}}}`;
  const bytes = Buffer.concat([
    withDescriptor(harmless, descriptor(`createType="monolithicSparse"\nparentFileNameHint="${parent}"`, '00000001')),
    harmless.subarray(SECTOR, SECTOR + DESCRIPTOR_BYTES),
    Buffer.from(descriptor(`createType="monolithicFlat"\nRW 2048 FLAT "${secret}" 0`).padEnd(1024, '\n')),
  ]);
  bytes.writeBigUInt64LE(BigInt(harmless.length / SECTOR), DESCRIPTOR_AT);
  return bytes;
}

/** As VMware writes what it streams: the second header, at the end, is the one that says where the tables are. */
export function withFooter(streamed: Buffer, change: (footer: Buffer) => void = () => {}): Buffer {
  const bytes = sectors(streamed);
  const footer = Buffer.from(bytes.subarray(0, SECTOR));
  change(footer);
  bytes.fill(0xff, TABLE_AT, TABLE_AT + 8);
  const marker = Buffer.alloc(SECTOR);
  marker.writeBigUInt64LE(1n, 0);
  marker.writeUInt32LE(FOOTER_MARKER, 12);
  return Buffer.concat([bytes, marker, footer, Buffer.alloc(SECTOR)]);
}

function descriptor(rest: string, parentId = 'ffffffff'): string {
  return `# Disk DescriptorFile\nversion=1\nCID=00000001\nparentCID=${parentId}\n${rest}\n`;
}

function sectors(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(-bytes.length & (SECTOR - 1))]);
}
