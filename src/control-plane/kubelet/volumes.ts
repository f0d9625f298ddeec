/** Brings a Pod's volumes into its folder and lays out what each container sees. Can be repeated at any time. */
import { chmod, chown, lstat, mkdir, readdir, readFile, readlink, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CONFIG_MAPS } from '../../api/core/configmap.ts';
import type { Container, Pod, PodVolume, VolumeMount } from '../../api/core/pod.ts';
import { SECRETS } from '../../api/core/secret.ts';
import {
  ANNOTATION_PROVISIONED_BY,
  LOCAL_PROVISIONER,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  type PersistentVolume,
} from '../../api/core/volume.ts';
import { ApiError } from '../../base/errors.ts';
import type { Client } from '../../client/client.ts';
import { type FieldSource, fieldOf } from './environment.ts';
import { makeFolder, sandboxDir, volumeDir } from './pod-folder.ts';
import type { RunAs } from './privileges.ts';
import { projectedFiles } from './projected-volume.ts';

/** The part of an image store that the kubelet needs. */
export type ImageSource = {
  resolve(reference: string): { readonly digest: string } | undefined;
  /** A folder with the image's files; throws NotFound when the image is not there. */
  unpacked(reference: string, signal?: AbortSignal): Promise<string>;
};

/** An image that could not be had: worth another kind of waiting than a missing ConfigMap. */
export class ImageError extends Error {
  override readonly name = 'ImageError';
  readonly image: string;

  constructor(image: string, message: string, cause: unknown) {
    super(message, { cause });
    this.image = image;
  }
}

export type VolumeOptions = {
  readonly pod: Pod;
  readonly dir: string;
  readonly fields: FieldSource;
  readonly images: ImageSource;
  readonly client: Client;
  readonly owner: RunAs | undefined;
  readonly signal: AbortSignal;
};

/** Resolves when every container of the Pod may start. */
export async function prepareVolumes(options: VolumeOptions): Promise<void> {
  const { pod, dir, signal } = options;
  const paths = new Map<string, string>();
  for (const volume of pod.spec.volumes ?? []) {
    signal.throwIfAborted();
    paths.set(volume.name, await prepareVolume(volume, options));
  }
  signal.throwIfAborted();
  for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    await layOutMounts(container, sandboxDir(dir, container.name), paths);
  }
}

async function prepareVolume(volume: PodVolume, options: VolumeOptions): Promise<string> {
  const { name, emptyDir, image, configMap, secret, hostPath, downwardAPI, projected, persistentVolumeClaim } = volume;
  const { dir } = options;
  if (emptyDir) return makeEmptyDir(volumeDir(dir, 'empty-dir', name), options);
  if (image) return linkImage(volumeDir(dir, 'image', name), image.reference, options);
  if (configMap) return writeFiles(volumeDir(dir, 'configmap', name), await configMapFiles(configMap, options), options);
  if (secret) return writeFiles(volumeDir(dir, 'secret', name), await secretFiles(secret, options), options);
  if (hostPath) return linkHostPath(volumeDir(dir, 'host-path', name), hostPath);
  if (persistentVolumeClaim) return linkClaim(volumeDir(dir, 'local-volume', name), persistentVolumeClaim.claimName, options);
  if (downwardAPI) {
    return writeFiles(volumeDir(dir, 'downward-api', name), downwardFiles(downwardAPI, options), options);
  }
  if (projected) {
    const readers = {
      configMap: (source: NonNullable<PodVolume['configMap']>) => configMapFiles(source, options),
      secret: (source: NonNullable<PodVolume['secret']>) => secretFiles(source, options),
      downwardAPI: (source: NonNullable<PodVolume['downwardAPI']>) => downwardFiles(source, options),
    };
    const files = await projectedFiles(projected, { pod: options.pod, client: options.client, readers });
    return writeFiles(volumeDir(dir, 'projected', name), files, options);
  }
  const kind = Object.keys(volume).find((key) => key !== 'name') ?? 'nothing';
  throw new ApiError('Invalid', `volume "${name}": ${kind} is not supported by the embedded kubelet yet`);
}

/** Brings volumes made from Secrets and ConfigMaps up to date, whose objects may have changed since; nothing is touched that has not. */
export async function refreshVolumes(options: Pick<VolumeOptions, 'pod' | 'dir' | 'client' | 'owner'>): Promise<void> {
  for (const { name, secret, configMap } of options.pod.spec.volumes ?? []) {
    if (!secret && !configMap) continue;
    const path = volumeDir(options.dir, secret ? 'secret' : 'configmap', name);
    const files = secret ? await secretFiles(secret, options) : configMap ? await configMapFiles(configMap, options) : new Map();
    if (!(await hasFiles(path, files))) await writeFiles(path, files, options);
  }
}

async function hasFiles(path: string, files: Files): Promise<boolean> {
  const names = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []);
  if (names.filter((entry) => !entry.isDirectory()).length !== files.size) return false;
  for (const [name, content] of files) {
    const written = await readFile(join(path, inside(name, 'file name'))).catch(() => undefined);
    if (!written?.equals(Buffer.from(content))) return false;
  }
  return true;
}

function downwardFiles({ items = [] }: NonNullable<PodVolume['downwardAPI']>, { fields }: VolumeOptions): Files {
  return new Map(items.map(({ path, fieldRef }) => [path, fieldOf(fieldRef?.fieldPath ?? '', fields)] as const));
}

async function makeEmptyDir(path: string, { owner }: VolumeOptions): Promise<string> {
  await makeFolder(dirname(path), 0o711);
  await mkdir(path, { recursive: true, mode: 0o700 });
  await giveTo(path, owner, owner ? 0o2770 : 0o700);
  return path;
}

async function linkImage(path: string, reference: string, { images, signal }: VolumeOptions): Promise<string> {
  // A Pod keeps the image it began with, also when its name means another one by now: overlays are made on top of it.
  if (await stat(path).catch(() => undefined)) return path;
  try {
    await relink(path, await images.unpacked(reference, signal));
    return path;
  } catch (error) {
    signal.throwIfAborted();
    throw new ImageError(reference, error instanceof Error ? error.message : String(error), error);
  }
}

async function configMapFiles(
  { name, optional, items }: NonNullable<PodVolume['configMap']>,
  { pod, client }: Pick<VolumeOptions, 'pod' | 'client'>,
): Promise<Files> {
  const found = await client.get(CONFIG_MAPS, { namespace: pod.metadata.namespace, name });
  if (!found && !optional) throw new ApiError('NotFound', `configmap "${name}" not found`);
  return chosen(new Map(Object.entries(found?.data ?? {})), items, `configmap "${name}"`);
}

async function secretFiles(
  { secretName, optional, items }: NonNullable<PodVolume['secret']>,
  { pod, client }: Pick<VolumeOptions, 'pod' | 'client'>,
): Promise<Files> {
  const found = await client.get(SECRETS, { namespace: pod.metadata.namespace, name: secretName });
  if (!found && !optional) throw new ApiError('NotFound', `secret "${secretName}" not found`);
  const decoded = Object.entries(found?.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64')] as const);
  return chosen(new Map(decoded), items, `secret "${secretName}"`);
}

type Files = ReadonlyMap<string, string | Uint8Array>;

function chosen(files: Files, items: readonly { readonly key: string; readonly path: string }[] | undefined, what: string): Files {
  if (!items) return files;
  return new Map(
    items.map(({ key, path }) => {
      const content = files.get(key);
      if (content === undefined) throw new ApiError('NotFound', `${what} has no key "${key}"`);
      return [path, content];
    }),
  );
}

/** Makes the folder anew beside the old one and swaps them, so that nobody reads half of it. */
async function writeFiles(path: string, files: Files, { owner }: Pick<VolumeOptions, 'owner'>): Promise<string> {
  const fresh = `${path}.new`;
  await rm(fresh, { recursive: true, force: true });
  await makeFolder(dirname(path), 0o711);
  await mkdir(fresh, { mode: 0o700 });
  for (const [name, content] of files) {
    const file = join(fresh, inside(name, 'file name'));
    await makeFolder(dirname(file), 0o755);
    await writeFile(file, content, { flag: 'wx', mode: 0o600 });
    await giveTo(file, owner, owner ? 0o440 : 0o400);
  }
  await giveTo(fresh, owner, owner ? 0o750 : 0o700);
  await rm(path, { recursive: true, force: true });
  await rename(fresh, path);
  return path;
}

/** Nothing is made outside of the Pod's folder: `...OrCreate` means what is there already. */
async function linkHostPath(path: string, { path: target, type = '' }: NonNullable<PodVolume['hostPath']>): Promise<string> {
  if (!target.startsWith('/') || target.split('/').includes('..'))
    throw new ApiError('Invalid', `hostPath ${JSON.stringify(target)} is not absolute`);
  const found = await stat(target).catch(() => undefined);
  const isRight =
    type === '' ||
    (type.startsWith('Directory') && found?.isDirectory()) ||
    (type.startsWith('File') && found?.isFile()) ||
    (type === 'Socket' && found?.isSocket()) ||
    (type === 'CharDevice' && found?.isCharacterDevice()) ||
    (type === 'BlockDevice' && found?.isBlockDevice());
  if (!isRight) throw new ApiError('Invalid', `hostPath type check failed: ${target} is not a ${type}`);
  await relink(path, target);
  return path;
}

async function linkClaim(path: string, claimName: string, options: VolumeOptions): Promise<string> {
  const volume = await volumeOfClaim(claimName, options);
  const { hostPath, volumeMode } = volume.spec;
  if (!hostPath || volumeMode === 'Block')
    throw new ApiError('Invalid', `volume "${volume.metadata.name}" is no folder, which is all that the embedded kubelet mounts`);
  const isProvisioned = volume.metadata.annotations?.[ANNOTATION_PROVISIONED_BY] === LOCAL_PROVISIONER;
  if (isProvisioned) await mkdir(hostPath.path, { recursive: true, mode: 0o755 });
  await linkHostPath(path, hostPath);
  // As fsGroup does for volumes that a provisioner made; what an administrator points at keeps its owner.
  if (isProvisioned) await giveTo(hostPath.path, options.owner, options.owner ? 0o2770 : 0o700);
  return path;
}

async function volumeOfClaim(name: string, { pod, client }: VolumeOptions): Promise<PersistentVolume> {
  const claim = await client.get(PERSISTENT_VOLUME_CLAIMS, { namespace: pod.metadata.namespace, name });
  if (!claim) throw new ApiError('NotFound', `persistentvolumeclaim "${name}" not found`);
  if (claim.metadata.deletionTimestamp) throw new ApiError('Conflict', `persistentvolumeclaim "${name}" is being deleted`);
  const { volumeName } = claim.spec;
  if (claim.status?.phase !== 'Bound' || !volumeName) throw new ApiError('Conflict', `persistentvolumeclaim "${name}" is not bound yet`);
  const volume = await client.get(PERSISTENT_VOLUMES, { name: volumeName });
  if (volume?.spec.claimRef?.uid !== claim.metadata.uid)
    throw new ApiError('Conflict', `persistentvolumeclaim "${name}" does not hold volume "${volumeName}"`);
  return volume as PersistentVolume; // without one there is no claimRef either
}

async function layOutMounts(container: Container, sandbox: string, volumes: ReadonlyMap<string, string>): Promise<void> {
  await makeFolder(sandbox, 0o755);
  const mounts = (container.volumeMounts ?? []).map((mount) => ({
    mount,
    path: inside(mount.mountPath.replace(/^\/+|\/+$/g, ''), 'mountPath'),
  }));
  for (const { path } of mounts) {
    // A link below a link would be made inside the outer volume, which may be an image that others share.
    const outer = mounts.find((other) => path.startsWith(`${other.path}/`));
    if (outer)
      throw new ApiError('Invalid', `mountPath /${path} lies below mountPath /${outer.path}, which the embedded kubelet does not support`);
  }
  for (const { mount, path } of mounts) {
    const link = join(sandbox, path);
    await makeFolder(dirname(link), 0o755);
    await relink(link, await targetOf(mount, volumes));
  }
}

async function targetOf({ name, subPath }: VolumeMount, volumes: ReadonlyMap<string, string>): Promise<string> {
  const volume = volumes.get(name);
  if (volume === undefined) throw new ApiError('Invalid', `volume "${name}" is mounted but not defined`);
  if (!subPath) return volume;
  throw new ApiError('Invalid', `subPath ${JSON.stringify(subPath)} of volume "${name}" is not supported by the embedded kubelet yet`);
}

/** Makes or corrects a link; anything else in its place is an error, not something to remove. */
async function relink(path: string, target: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found && !found.isSymbolicLink()) throw new ApiError('Conflict', `${path} is in the way`);
  if (found && (await readlink(path)) === target) return;
  await makeFolder(dirname(path), 0o711);
  const fresh = `${path}.new`;
  await rm(fresh, { force: true });
  await symlink(target, fresh);
  await rename(fresh, path);
}

async function giveTo(path: string, owner: RunAs | undefined, mode: number): Promise<void> {
  if (owner) await chown(path, owner.uid, owner.gid);
  await chmod(path, mode);
}

/** A relative path that stays where it is joined to. */
function inside(path: string, what: string): string {
  const isSafe = path !== '' && !path.includes('\0') && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  if (!isSafe) throw new ApiError('Invalid', `${JSON.stringify(path)} is not a usable ${what}`);
  return path;
}
