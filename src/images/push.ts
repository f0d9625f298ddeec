/** Sends an image of a layout to a registry: what the registry has already is not sent again. */
import { Readable } from 'node:stream';
import { ApiError } from '../base/errors.ts';
import { type Descriptor, openBlob, readManifest } from './layout.ts';
import { openRegistry, type Registry, type RegistryOptions } from './registry.ts';

export type PushOptions = RegistryOptions & {
  /** The layout. */
  readonly dir: string;
  /** The manifest, as the layout's index lists it. */
  readonly descriptor: Descriptor;
  readonly tag: string;
  /** Called as bytes leave; those that the registry has already count as sent. */
  readonly onSent?: (sentBytes: number, allBytes: number) => void;
};

/** Blobs first, the manifest last: under its name there is never an image with a part missing. */
export async function pushImage(options: PushOptions): Promise<void> {
  const { dir, descriptor, repository, tag, onSent } = options;
  const { digest, size, mediaType } = descriptor;
  const { config, layers } = await readManifest(dir, descriptor);
  const registry = openRegistry(options);
  const blobs = [...layers, config];
  const allBytes = blobs.reduce((sum, blob) => sum + blob.size, 0);
  let doneBytes = 0;
  for (const blob of blobs) {
    await pushBlob(registry, { dir, blob, repository, onSent: (sentBytes) => onSent?.(doneBytes + sentBytes, allBytes) });
    doneBytes += blob.size;
  }
  const headers = { 'content-type': mediaType, 'content-length': String(size) };
  const body = () => bodyOf(dir, digest);
  await registry.send({ method: 'PUT', to: `/v2/${repository}/manifests/${tag}`, headers, body, expected: [201] });
}

/** Throws when nothing could be pushed anyway; for whoever has an hour of work to do before. What the account may do shows later. */
export async function checkRegistry(options: RegistryOptions): Promise<void> {
  // A token for one repository may not be good for this path, so only its being given out is asked for.
  await openRegistry(options).send({ method: 'GET', to: '/v2/', expected: [200, 401, 403, 404] });
}

type Upload = {
  readonly dir: string;
  readonly blob: Descriptor;
  readonly repository: string;
  readonly onSent: (sentBytes: number) => void;
};

async function pushBlob(registry: Registry, { dir, blob: { digest, size }, repository, onSent }: Upload): Promise<void> {
  const known = await registry.send({ method: 'HEAD', to: `/v2/${repository}/blobs/${digest}`, expected: [200, 404] });
  if (known.status === 200) return onSent(size);
  const { location } = await registry.send({ method: 'POST', to: `/v2/${repository}/blobs/uploads/`, expected: [202] });
  if (!location) throw new ApiError('InternalError', 'the registry does not say where to upload to');
  location.searchParams.set('digest', digest);
  const headers = { 'content-type': 'application/octet-stream', 'content-length': String(size) };
  await registry.send({ method: 'PUT', to: location, headers, body: () => bodyOf(dir, digest, onSent), expected: [201] });
}

function bodyOf(dir: string, digest: string, onSent: (sentBytes: number) => void = () => {}): ReadableStream {
  async function* counted(source: AsyncIterable<Buffer>) {
    let sentBytes = 0;
    for await (const chunk of source) {
      yield chunk;
      sentBytes += chunk.length;
      onSent(sentBytes);
    }
  }
  return Readable.toWeb(Readable.from(counted(openBlob(dir, digest)), { objectMode: false })) as ReadableStream; // the same, by another type
}
