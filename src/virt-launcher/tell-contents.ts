/** Leaves the digests of the disks that are made anew on another node, for virt-handler: a move must not change a disk under a mounted file system. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { VmiSpec } from '../api/kubevirt/vmi-spec-schema.ts';
import { CONTENTS_FILE } from '../api/launcher/files.ts';
import type { DiskImage } from '../qemu/convert/input.ts';

/** Of a source that is the same for every Pod: a token of a service account and the facts of a Pod are those of the Pod. */
const SOURCES = ['cloudInitNoCloud', 'cloudInitConfigDrive', 'configMap', 'secret', 'sysprep'] as const;
/** Enough to tell two apart, and short in a query. */
const DIGITS = 32;

/** In the folder of the process, which is QEMU's. */
export function tellContents({ volumes = [] }: Pick<VmiSpec, 'volumes'>, images: ReadonlyMap<string, DiskImage>): void {
  const digests = volumes.flatMap((volume) => {
    const image = images.get(volume.name);
    if (!image || SOURCES.every((source) => volume[source] === undefined)) return [];
    return [[volume.name, createHash('sha256').update(readFileSync(image.path)).digest('hex').slice(0, DIGITS)] as const];
  });
  writeFileSync(CONTENTS_FILE, JSON.stringify(Object.fromEntries(digests)));
}
