/** A launcher Pod's folders as the node runtime makes them, and disk images to put there. */
import { chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { QEMU_USER } from '../api/launcher/compute.ts';
import { containerDiskMount, PRIVATE_VOLUME, PUBLIC_VOLUME } from '../api/launcher/mounts.ts';
import { ACCELERATOR_VARIABLE } from '../api/launcher/variables.ts';
import { SANDBOX_VARIABLE, sandboxPath } from '../base/node/sandbox-path.ts';

export type PodFolders = {
  readonly publicFolder: string;
  readonly privateFolder: string;
  /** The unpacked container image of volume `root`. */
  readonly image: string;
  readonly env: Record<string, string>;
  remove(): void;
};

/** Folders of one Pod with one image volume, `root`; as root they belong to user 107. */
export function makePod(): PodFolders {
  const base = mkdtempSync(join(tmpdir(), 'launcher-'));
  const [publicFolder, privateFolder, image] = [join(base, 'volumes/public'), join(base, 'volumes/private'), join(base, 'images/one')];
  const env = { PATH: process.env['PATH'] ?? '', [SANDBOX_VARIABLE]: join(base, 'root'), [ACCELERATOR_VARIABLE]: 'tcg' };
  const links = [
    [PUBLIC_VOLUME.mountPath, publicFolder],
    [PRIVATE_VOLUME.mountPath, privateFolder],
    [containerDiskMount('root').mountPath, image],
  ] as const;
  for (const folder of [publicFolder, privateFolder, join(image, 'disk')]) {
    mkdirSync(folder, { recursive: true });
  }
  if (process.getuid?.() === 0) for (const folder of [publicFolder, privateFolder]) chownSync(folder, QEMU_USER, QEMU_USER);
  for (const [mountPath, folder] of links) {
    const path = sandboxPath(mountPath, env);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(folder, path);
  }
  return { publicFolder, privateFolder, image, env, remove: () => rmSync(base, { recursive: true }) };
}

/** A raw disk whose boot sector prints `text` on the first serial port and stops the processor. */
export function bootSector(text: string): Buffer {
  const code = [
    ...[0xfa, 0x31, 0xc0, 0x8e, 0xd8], // cli; xor ax,ax; mov ds,ax
    ...[0xbe, 0x16, 0x7c], // mov si,0x7c16: the text
    ...[0xac, 0x84, 0xc0, 0x74, 0x06], // next: lodsb; test al,al; jz stop
    ...[0xba, 0xf8, 0x03, 0xee, 0xeb, 0xf5], // mov dx,0x3f8; out dx,al; jmp next
    ...[0xf4, 0xeb, 0xfd], // stop: hlt; jmp stop
  ];
  const disk = Buffer.alloc(2 ** 20);
  disk.set(code);
  disk.write(`${text}\0`, code.length, 'latin1');
  disk.writeUInt16LE(0xaa55, 510);
  return disk;
}

/** The start of a qcow2 image of version 3 with some fields set to something else. */
export function qcow2Header(fields: {
  version?: number;
  backingOffset?: bigint;
  clusterBits?: number;
  size?: bigint;
  encryption?: number;
  l1Entries?: number;
  snapshots?: number;
  features?: bigint;
}): Buffer {
  const header = Buffer.alloc(512);
  header.writeUInt32BE(0x514649fb, 0);
  header.writeUInt32BE(fields.version ?? 3, 4);
  header.writeBigUInt64BE(fields.backingOffset ?? 0n, 8);
  header.writeUInt32BE(fields.clusterBits ?? 16, 20);
  header.writeBigUInt64BE(fields.size ?? 2n ** 20n, 24);
  header.writeUInt32BE(fields.encryption ?? 0, 32);
  header.writeUInt32BE(fields.l1Entries ?? 1, 36);
  header.writeUInt32BE(fields.snapshots ?? 0, 60);
  header.writeBigUInt64BE(fields.features ?? 0n, 72);
  return header;
}

/** Puts a file into the image. */
export function putFile(pod: PodFolders, path: string, content: string | Buffer): void {
  writeFileSync(join(pod.image, path), content);
}
