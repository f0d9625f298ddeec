/** The root filesystem of an image for containers: unpacked once per digest and kind of owner, whole or not at all. */
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { chmod, chown, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError } from '../base/errors.ts';
import { isObject } from '../base/json.ts';
import { identify, isSameProcess } from '../base/node/process-identity.ts';
import { blobPath, type Descriptor, openBlob, readManifest, syncFolder, verifyBlob } from './layout.ts';
import type { RunConfig } from './run-config.ts';
import { DEFAULT_LIMITS, type UnpackLimits, unpackLayers } from './unpack.ts';
import { rootEntries, type Shift } from './unpack-root.ts';

export type RootOptions = {
  /** The folder of all roots. */
  readonly into: string;
  readonly shift: Shift | undefined;
};
/** What a container is made of: a folder not to be written to, and what the image says of how it is run. */
export type ImageRoot = { readonly digest: string; readonly path: string; readonly config: RunConfig };

/** The most that an image's own words about itself may be. */
const MAX_CONFIG_BYTES = 4 * 2 ** 20;
/** Images of containers are small beside those of disks. */
const ROOT_LIMITS: UnpackLimits = { ...DEFAULT_LIMITS, maxEntries: 1_000_000, maxBytes: 64 * 2 ** 30 };

type Making = RootOptions & { readonly dir: string; readonly descriptor: Descriptor; readonly limits?: UnpackLimits };

/** Unpacks it unless that was done before. */
export async function makeImageRoot({ dir, descriptor, into, shift, limits = ROOT_LIMITS }: Making): Promise<ImageRoot> {
  const { digest } = descriptor;
  const path = join(into, digest.replace(':', '-'));
  const manifest = await readManifest(dir, descriptor);
  const config = runConfigOf(dir, manifest.config);
  if (existsSync(path)) return { digest, path, config };
  await mkdir(into, { recursive: true, mode: 0o711 });
  removeAbandoned(into);
  const self = identify(process.pid);
  const temporary = join(into, `.tmp-${self?.pid}-${self?.startTime}-${randomUUID()}`);
  for (const layer of manifest.layers) await verifyBlob(dir, layer);
  await mkdir(temporary, { mode: 0o700 });
  try {
    const layers = manifest.layers.map((layer) => ({ mediaType: layer.mediaType, open: () => openBlob(dir, layer.digest) }));
    await unpackLayers({ layers, into: temporary, limits, apply: rootEntries(shift) });
    if (shift) await chown(temporary, shift.uid, shift.gid);
    await chmod(temporary, 0o755);
    await rename(temporary, path).catch((error) => {
      if (!existsSync(path)) throw error; // another process was faster: its copy is as good
    });
    await syncFolder(into);
    return { digest, path, config };
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** What an image says of how it is run; of a thing that says nothing, nothing. */
function runConfigOf(dir: string, { digest }: Descriptor): RunConfig {
  const path = blobPath(dir, digest);
  if (statSync(path).size > MAX_CONFIG_BYTES)
    throw new ApiError('Invalid', `the image is refused: its configuration has more than ${MAX_CONFIG_BYTES} bytes`);
  const file: unknown = JSON.parse(readFileSync(path, 'utf8'));
  const config = isObject(file) && isObject(file['config']) ? file['config'] : {};
  const words = (name: string) => {
    const value = config[name];
    return Array.isArray(value) && value.every((each) => typeof each === 'string') ? { [name]: value as string[] } : {};
  };
  const word = (name: string) => (typeof config[name] === 'string' && config[name] !== '' ? { [name]: config[name] } : {});
  return {
    ...word('User'),
    ...words('Env'),
    ...words('Entrypoint'),
    ...words('Cmd'),
    ...word('WorkingDir'),
    ...word('StopSignal'),
  };
}

/** Half-unpacked roots of processes that no longer run. */
function removeAbandoned(into: string): void {
  const bootId = identify(process.pid)?.bootId ?? '';
  for (const name of readdirSync(into)) {
    const [, pid, startTime] = /^\.tmp-(\d+)-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || startTime === undefined) continue;
    if (!isSameProcess({ pid: Number(pid), startTime, bootId })) rmSync(join(into, name), { recursive: true, force: true });
  }
}
