/** The manifest that a name stands for at a registry, chosen for this machine where there are several; nothing larger than its bounds is read. */
import { createHash } from 'node:crypto';
import { ApiError } from '../base/errors.ts';
import { isObject } from '../base/json.ts';
import { readBytes } from '../base/read-bytes.ts';
import { type Descriptor, descriptorsOf, INDEX_TYPE, MANIFEST_TYPE, MAX_JSON_BYTES, type Manifest, manifestIn } from './layout.ts';
import type { Registry } from './registry.ts';

export type FetchedManifest = {
  readonly descriptor: Descriptor;
  /** As the registry sent it, which is what has the digest. */
  readonly bytes: Uint8Array;
  readonly manifest: Manifest;
};
type Asked = {
  readonly registry: Registry;
  readonly repository: string;
  /** A tag or a digest. */
  readonly name: string;
  readonly architecture: string;
};

const DOCKER_MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json';
const DOCKER_LIST = 'application/vnd.docker.distribution.manifest.list.v2+json';
const ACCEPTED = [MANIFEST_TYPE, INDEX_TYPE, DOCKER_MANIFEST, DOCKER_LIST].join(', ');
const MAX_DEPTH = 2;

/** NotFound when the registry does not have it. */
export async function fetchManifest({ registry, repository, name, architecture }: Asked): Promise<FetchedManifest> {
  let wanted: { readonly name: string; readonly size?: number } = { name };
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    const { bytes, json, mediaType, digest } = await fetchJson({ registry, repository, ...wanted });
    if (mediaType === MANIFEST_TYPE || mediaType === DOCKER_MANIFEST)
      return { descriptor: { mediaType, digest, size: bytes.length }, bytes, manifest: manifestIn(json, `manifest ${digest}`) };
    if (mediaType !== INDEX_TYPE && mediaType !== DOCKER_LIST)
      throw new ApiError('Invalid', `manifests of type ${JSON.stringify(mediaType.slice(0, 100))} are not supported`);
    const chosen = forThisMachine(descriptorsOf(json, 'manifests', `index ${digest}`), architecture);
    wanted = { name: chosen.digest, size: chosen.size };
  }
  throw new ApiError('Invalid', `the indexes of ${repository} are nested more than ${MAX_DEPTH} deep`);
}

/** The one for linux and this processor; the only one when it does not say what it is for. */
function forThisMachine(offered: readonly Descriptor[], architecture: string): Descriptor {
  const match = offered.find(({ platform }) => platform?.os === 'linux' && platform.architecture === architecture);
  const [only] = offered;
  if (match) return match;
  if (only && offered.length === 1 && !only.platform) return only;
  const known = [...new Set(offered.flatMap(({ platform }) => (platform?.os ? [`${platform.os}/${platform.architecture}`] : [])))];
  const those = known.filter((each) => !each.startsWith('unknown')).slice(0, 10);
  throw new ApiError('NotFound', `no image for linux/${architecture}${those.length > 0 ? `, only for ${those.join(', ')}` : ''}`);
}

async function fetchJson({ registry, repository, name, size }: Omit<Asked, 'architecture'> & { readonly size?: number }) {
  if (size !== undefined && size > MAX_JSON_BYTES) throw new ApiError('Invalid', `${size} bytes are too many for a manifest`);
  const to = `/v2/${repository}/manifests/${name}`;
  const response = await registry.open({ method: 'GET', to, headers: { accept: ACCEPTED }, expected: [200, 404] });
  if (response.status === 404) {
    await response.body?.cancel();
    throw new ApiError('NotFound', `${repository}${name.startsWith('sha256:') ? '@' : ':'}${name}: not found`);
  }
  const bytes = await readBytes(response.body, MAX_JSON_BYTES, 'the manifest');
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  if (name.startsWith('sha256:') && digest !== name) throw new ApiError('Invalid', `manifest ${name} is refused: its digest is ${digest}`);
  if (size !== undefined && bytes.length !== size)
    throw new ApiError('Invalid', `manifest ${name} is refused: it has ${bytes.length} bytes, not ${size}`);
  const json = parse(bytes, digest);
  const said = typeof json['mediaType'] === 'string' ? json['mediaType'] : response.headers.get('content-type');
  return { bytes, json, digest, mediaType: (said ?? '').split(';')[0]?.trim() ?? '' };
}

function parse(bytes: Uint8Array, digest: string): Record<string, unknown> {
  try {
    const json: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (isObject(json)) return json;
  } catch {
    // said below
  }
  throw new ApiError('Invalid', `manifest ${digest} is not a JSON object`);
}
