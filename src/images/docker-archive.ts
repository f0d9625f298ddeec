/** The format of `docker save`: manifest.json names a configuration and layer files. It becomes an OCI image without changing a layer. */
import { closeSync, createReadStream, existsSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { UserError } from '../base/errors.ts';
import { normaliseReference } from '../base/image-reference.ts';
import { isObject } from '../base/json.ts';
import { addBlob, createLayout, type Descriptor, MANIFEST_TYPE, type Manifest } from './layout.ts';
import { storeUnderName } from './store.ts';

type Entry = { readonly Config: string; readonly RepoTags?: readonly string[] | null; readonly Layers: readonly string[] };
type Options = { readonly folder: string; readonly storeDir: string; readonly reference: string; readonly signal: AbortSignal | undefined };

const LAYER_TYPE = 'application/vnd.oci.image.layer.v1.tar';
const CONFIG_TYPE = 'application/vnd.oci.image.config.v1+json';
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$/;

/** Stores the one image of an unpacked archive (or the one of this name) under `reference`. */
export async function importDockerArchive({ folder, storeDir, reference, signal }: Options): Promise<{ readonly digest: string }> {
  const name = normaliseReference(reference);
  const { Config, Layers } = choose(readEntries(folder), name);
  createLayout(storeDir);
  const add = async (file: string, mediaType: string): Promise<Descriptor> => ({
    mediaType,
    ...(await addBlob(storeDir, createReadStream(fileIn(folder, file)), signal)),
  });
  const layers: Descriptor[] = [];
  for (const layer of Layers) layers.push(await add(layer, isGzip(fileIn(folder, layer)) ? `${LAYER_TYPE}+gzip` : LAYER_TYPE));
  const manifest: Manifest = { config: await add(Config, CONFIG_TYPE), layers };
  const text = JSON.stringify({ schemaVersion: 2, mediaType: MANIFEST_TYPE, ...manifest });
  const descriptor = { mediaType: MANIFEST_TYPE, ...(await addBlob(storeDir, Readable.from([Buffer.from(text)]), signal)) };
  await storeUnderName({ dir: storeDir, name, descriptor, manifest, copy: async () => {} });
  return { digest: descriptor.digest };
}

function readEntries(folder: string): Entry[] {
  const json: unknown = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  const isEntry = (entry: unknown) => isObject(entry) && typeof entry['Config'] === 'string' && Array.isArray(entry['Layers']);
  if (Array.isArray(json) && json.length > 0 && json.every(isEntry)) return json as Entry[];
  throw new UserError('ARCHIVE_REFUSED', 'the archive cannot be read', { why: 'its manifest.json names no image' });
}

function choose(entries: readonly Entry[], name: string): Entry {
  const named = entries.find(({ RepoTags }) => RepoTags?.some((tag) => normaliseReference(tag) === name));
  const only = entries.length === 1 ? entries[0] : named;
  if (only) return only;
  const names = entries.flatMap(({ RepoTags }) => RepoTags ?? []).join(', ');
  throw new UserError('ARCHIVE_AMBIGUOUS', `the archive has ${entries.length} images and none is called ${name}`, {
    why: `they are ${names}`,
    fix: 'import it under one of these names, then virtctl image tag',
  });
}

function fileIn(folder: string, name: string): string {
  const path = join(folder, name);
  if (typeof name === 'string' && NAME.test(name) && existsSync(path)) return path;
  throw new UserError('ARCHIVE_REFUSED', 'the archive is incomplete', { why: `${JSON.stringify(name)} is not in it` });
}

function isGzip(path: string): boolean {
  const start = Buffer.alloc(2);
  const file = openSync(path, 'r');
  readSync(file, start);
  closeSync(file);
  return start.readUInt16BE() === 0x1f8b;
}
