/** Sends an image of a layout to a registry (the distribution API, version 2): what the registry has already is not sent again. */
import { Readable } from 'node:stream';
import { ApiError, UserError } from '../base/errors.ts';
import { type Descriptor, MANIFEST_TYPE, openBlob, readManifest } from './layout.ts';

export type PushOptions = {
  /** The layout. */
  readonly dir: string;
  /** The manifest, as the layout's index lists it. */
  readonly descriptor: Descriptor;
  /** `https://registry.example` or, for one of a test, `http://…`. */
  readonly registry: string;
  readonly repository: string;
  readonly tag: string;
  /** The value of the header of this name, such as `Basic …`. */
  readonly authorization?: string;
  readonly signal?: AbortSignal;
};

/** Blobs first, the manifest last: under its name there is never an image with a part missing. */
export async function pushImage(options: PushOptions): Promise<void> {
  const { dir, descriptor, repository, tag } = options;
  const { digest, size } = descriptor;
  const { config, layers } = await readManifest(dir, descriptor);
  for (const blob of [...layers, config]) await pushBlob(blob, options);
  const headers = { 'content-type': MANIFEST_TYPE, 'content-length': String(size) };
  await send(options, `/v2/${repository}/manifests/${tag}`, { method: 'PUT', headers, body: bodyOf(dir, digest) }, [201]);
}

async function pushBlob({ digest, size }: Descriptor, options: PushOptions): Promise<void> {
  const { dir, repository } = options;
  const known = await send(options, `/v2/${repository}/blobs/${digest}`, { method: 'HEAD' }, [200, 404]);
  if (known.status === 200) return;
  const started = await send(options, `/v2/${repository}/blobs/uploads/`, { method: 'POST' }, [202]);
  const target = new URL(started.headers.get('location') ?? '', options.registry);
  target.searchParams.set('digest', digest);
  const headers = { 'content-type': 'application/octet-stream', 'content-length': String(size) };
  await send(options, target.href, { method: 'PUT', headers, body: bodyOf(dir, digest) }, [201]);
}

function bodyOf(dir: string, digest: string): ReadableStream {
  return Readable.toWeb(openBlob(dir, digest)) as ReadableStream; // the same stream, by another type
}

async function send(options: PushOptions, path: string, init: RequestInit, expected: readonly number[]): Promise<Response> {
  const { registry, authorization, signal } = options;
  const headers = { ...init.headers, ...(authorization && { authorization }) };
  // `duplex`: a body that is a stream needs it, and node's types do not know it
  const response = await answered(registry, () =>
    fetch(new URL(path, registry), { ...init, headers, signal, duplex: 'half' } as RequestInit),
  );
  if (expected.includes(response.status)) {
    if (response.status !== 200) await response.arrayBuffer();
    return response;
  }
  const said = (await response.text()).slice(0, 500);
  if (response.status === 401 || response.status === 403)
    throw new UserError('REGISTRY_FORBIDS', `the registry ${registry} does not take the image`, {
      why: `it answered ${response.status} ${said}`,
      fix: 'log in there with an account that may write',
    });
  throw new ApiError('InternalError', `the registry ${registry} answered ${response.status} to ${init.method} ${path}: ${said}`);
}

async function answered(registry: string, ask: () => Promise<Response>): Promise<Response> {
  try {
    return await ask();
  } catch (error) {
    const { cause } = error as { cause?: Error };
    throw new UserError('REGISTRY_UNREACHABLE', `cannot reach the registry ${registry}`, {
      why: (cause ?? (error as Error)).message,
      fix: 'check its address, and whether it speaks http or https',
      cause: error,
    });
  }
}
