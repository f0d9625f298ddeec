/** Brings a Pod's volumes into its folder and lays out what each container sees. Can be repeated at any time. */
import { lstat, mkdir, readlink, realpath, rename, rm, stat, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { CONFIG_MAPS } from '../../api/core/configmap.ts';
import type { Container, Pod, PodVolume, VolumeMount } from '../../api/core/pod.ts';
import { isDevicePath } from '../../api/core/pod-folder-layout.ts';
import { SECRETS } from '../../api/core/secret.ts';
import { isSharedFolder, type PersistentVolume } from '../../api/core/volume.ts';
import { HOW_STAND_INS_ARE_MADE, standInFor } from '../../api/kubevirt/stand-ins.ts';
import { ApiError, messageOf } from '../../base/errors.ts';
import type { Client } from '../../client/client.ts';
import { type BringImage, ImageError } from './bring-image.ts';
import { isProvisioned, shareClaim, volumeOfClaim } from './claims.ts';
import { type FieldSource, fieldOf } from './environment.ts';
import type { ImageSource } from './image-source.ts';
import { makeFolder, sandboxDir, volumeDir } from './pod-folder.ts';
import type { PodUsers } from './pod-users.ts';
import type { RunAs } from './privileges.ts';
import { projectedFiles } from './projected-volume.ts';
import { type Files, giveTo, hasFiles, inside, writeFiles } from './volume-files.ts';

export type VolumeOptions = {
  readonly pod: Pod;
  readonly dir: string;
  readonly fields: FieldSource;
  readonly images: ImageSource;
  /** Called before an image is looked for. */
  readonly bringImage: BringImage;
  /** Told when an image could not be had and another one is used in its place. */
  readonly onStandIn?: (reference: string, standIn: string) => void;
  readonly client: Client;
  readonly owner: RunAs | undefined;
  /** Where each claim has a group of its own; its owner is one of these. */
  readonly users?: PodUsers | undefined;
  /** Containers that see volumes as mounts; for the others links are laid out. */
  readonly isBound?: (container: Container) => boolean;
  readonly signal: AbortSignal;
};

/** Resolves when every container of the Pod may start, with the place of each volume. */
export async function prepareVolumes(options: VolumeOptions): Promise<ReadonlyMap<string, string>> {
  const { pod, dir, signal } = options;
  const paths = new Map<string, string>();
  for (const volume of pod.spec.volumes ?? []) {
    signal.throwIfAborted();
    paths.set(volume.name, await prepareVolume(volume, options));
  }
  signal.throwIfAborted();
  for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    requireModes(container, paths);
    if (!options.isBound?.(container)) await layOutMounts(container, sandboxDir(dir, container.name), paths);
  }
  return paths;
}

async function prepareVolume(volume: PodVolume, options: VolumeOptions): Promise<string> {
  const { name, emptyDir, image, configMap, secret, hostPath, downwardAPI, projected, persistentVolumeClaim } = volume;
  const { dir } = options;
  if (emptyDir) return makeEmptyDir(volumeDir(dir, 'empty-dir', name), options);
  if (image) return linkImage(volumeDir(dir, 'image', name), image, options);
  if (configMap) return writeFiles(volumeDir(dir, 'configmap', name), await configMapFiles(configMap, options), options);
  if (secret) return writeFiles(volumeDir(dir, 'secret', name), await secretFiles(secret, options), options);
  if (hostPath) return linkHostPath(volumeDir(dir, 'host-path', name), hostPath);
  if (persistentVolumeClaim) return linkClaim(name, persistentVolumeClaim.claimName, options);
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

function downwardFiles({ items = [] }: NonNullable<PodVolume['downwardAPI']>, { fields }: VolumeOptions): Files {
  return new Map(items.map(({ path, fieldRef }) => [path, fieldOf(fieldRef?.fieldPath ?? '', fields)] as const));
}

async function makeEmptyDir(path: string, { owner }: VolumeOptions): Promise<string> {
  await makeFolder(dirname(path), 0o711);
  await mkdir(path, { recursive: true, mode: 0o700 });
  await giveTo(path, owner, owner?.isRootInside ? 0o777 : owner ? 0o2770 : 0o700);
  return path;
}

async function linkImage(path: string, image: NonNullable<PodVolume['image']>, options: VolumeOptions): Promise<string> {
  const { images, onStandIn, signal } = options;
  const { reference } = image;
  // A Pod keeps the image it began with, also when its name means another one by now: overlays are made on top of it.
  if (await stat(path).catch(() => undefined)) return path;
  try {
    await relink(path, await unpackedImage(image, options));
  } catch (error) {
    if (!(error instanceof ImageError)) throw error;
    const standIn = standInFor(reference);
    if (!standIn) throw error;
    if (!images.resolve(standIn))
      throw new ImageError(
        reference,
        `${error.message}; ${standIn}, which stands in for it, is not in the local store either: ${HOW_STAND_INS_ARE_MADE}`,
        {
          cause: error.cause,
          reason: error.reason,
        },
      );
    onStandIn?.(reference, standIn);
    await relink(path, await images.unpacked(standIn, signal));
  }
  return path;
}

async function unpackedImage({ reference, pullPolicy }: NonNullable<PodVolume['image']>, options: VolumeOptions): Promise<string> {
  const { images, bringImage, signal } = options;
  await bringImage(reference, pullPolicy);
  try {
    return await images.unpacked(reference, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new ImageError(reference, messageOf(error), { cause: error });
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

async function linkClaim(name: string, claimName: string, options: VolumeOptions): Promise<string> {
  const volume = await volumeOfClaim(claimName, options);
  if (isSharedFolder(volume)) return linkSharedFolder(name, volume, options);
  const { hostPath, volumeMode } = volume.spec;
  const isOurs = isProvisioned(volume);
  if (!hostPath || (volumeMode === 'Block' && !isOurs))
    throw new ApiError('Invalid', `volume "${volume.metadata.name}" is no folder, which is all that the embedded kubelet mounts`);
  const path = volumeDir(options.dir, volumeMode === 'Block' ? 'block-device' : 'local-volume', name);
  if (isOurs) await mkdir(hostPath.path, { recursive: true, mode: 0o700 });
  await linkHostPath(path, hostPath);
  // As fsGroup does for volumes that a provisioner made; what an administrator points at keeps its owner.
  const { owner, users } = options;
  if (isOurs && users && owner && users.has(owner.uid))
    await shareClaim(hostPath.path, users.groupOf(volume.spec.claimRef?.uid ?? ''), users);
  else if (isOurs) await giveTo(hostPath.path, owner, owner?.isRootInside ? 0o777 : owner ? 0o2770 : 0o700);
  return path;
}

/**
 * For launchers alone, which let the guest see nothing else, and write only where the volume allows it. A link on the way to the folder was put
 * there after the administrator named it.
 */
async function linkSharedFolder(name: string, { metadata, spec }: PersistentVolume, { pod, dir, isBound }: VolumeOptions): Promise<string> {
  if (pod.spec.containers.some((container) => isBound?.(container)))
    throw new ApiError('Invalid', `volume "${metadata.name}" is a folder of the host, which is shared with virtual machines only`);
  const { path: target = '' } = spec.hostPath ?? {};
  if ((await realpath(target).catch(() => '')) !== target)
    throw new ApiError('Invalid', `volume "${metadata.name}": ${target} is not there, or links lead elsewhere`);
  const isWritable = spec.accessModes?.some((mode) => mode.startsWith('ReadWrite'));
  const path = volumeDir(dir, isWritable ? 'shared-folder' : 'shared-folder-read-only', name);
  await linkHostPath(path, { path: target, type: 'Directory' });
  return path;
}

/** In the words of Kubernetes. */
function requireModes({ volumeMounts = [], volumeDevices = [] }: Container, volumes: ReadonlyMap<string, string>): void {
  const isDevice = ({ name }: { readonly name: string }) => isDevicePath(volumes.get(name) ?? '');
  const mounted = volumeMounts.find(isDevice);
  if (mounted) throw new ApiError('Invalid', `volume ${mounted.name} has volumeMode Block, but is specified in volumeMounts`);
  const device = volumeDevices.find((each) => !isDevice(each));
  if (device) throw new ApiError('Invalid', `volume ${device.name} has volumeMode Filesystem, but is specified in volumeDevices`);
}

async function layOutMounts(container: Container, sandbox: string, volumes: ReadonlyMap<string, string>): Promise<void> {
  await makeFolder(sandbox, 0o755);
  const devices = (container.volumeDevices ?? []).map(({ name, devicePath }) => ({ name, mountPath: devicePath }));
  const mounts = [...(container.volumeMounts ?? []), ...devices].map((mount) => ({
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
    await relink(link, fromWithin(dirname(dirname(sandbox)), link, await targetOf(mount, volumes)));
  }
}

async function targetOf({ name, subPath }: VolumeMount, volumes: ReadonlyMap<string, string>): Promise<string> {
  const volume = volumes.get(name);
  if (volume === undefined) throw new ApiError('Invalid', `volume "${name}" is mounted but not defined`);
  if (!subPath) return volume;
  throw new ApiError('Invalid', `subPath ${JSON.stringify(subPath)} of volume "${name}" is not supported by the embedded kubelet yet`);
}

/** What is in the folder of the Pod is reached from there, whoever the folders above are closed to. */
function fromWithin(podDir: string, link: string, target: string): string {
  return target.startsWith(`${podDir}/`) ? relative(dirname(link), target) : target;
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
