/** Makes the files behind the disks of an instance, all in one folder of its own, so that they can be taken away together. */
import { closeSync, constants, openSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { credentialSourcesOf } from '../api/kubevirt/access-credentials.ts';
import type { VirtualMachineInstance } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { Disk, Volume } from '../api/kubevirt/vmi-spec-schema.ts';
import { hostFileAt } from '../api/kubevirt/volumes/host-disk.ts';
import type { SourceData, SourceName } from '../api/kubevirt/volumes/volume-source.ts';
import {
  claimDevice,
  claimMount,
  containerDiskMount,
  contentMount,
  credentialMount,
  type Mount,
  networkContentMount,
} from '../api/launcher/mounts.ts';
import { LAUNCHER_VARIABLES } from '../api/launcher/variables.ts';
import { messageOf, UserError } from '../base/errors.ts';
import { sandboxPath } from '../base/node/sandbox-path.ts';
import { formatBytes, parseQuantity } from '../base/quantity.ts';
import { MOST_BYTES } from '../images/qcow2-header.ts';
import { isReadOnlyDisk } from '../qemu/convert/disks.ts';
import type { DiskImage, ImageFile, ImageFormat } from '../qemu/convert/input.ts';
import { findBlockDevice, hasDeviceFolder } from './block-device.ts';
import { type ClaimDisk, diskImage, findClaimDisk, newDiskBytesFor } from './claim-disk.ts';
import { type CloudInitLayout, cloudInitIso, readPublicKeys } from './cloud-init.ts';
import { type FoundDisk, findContainerDisk, openContainerDisk } from './container-disk.ts';
import { diskRootIn } from './container-disk-share.ts';
import { declaredFormat } from './disk-format.ts';
import { findHostDisk } from './host-disk.ts';
import { createIso, type IsoFiles } from './iso9660.ts';
import { withMatchedBlocks } from './matched-blocks.ts';
import { FILES_LABEL, readMountedFiles, requireAnswerFile, SYSPREP_LABEL } from './mounted-files.ts';
import { CLAIM_DISK, unfinishedName } from './new-disk.ts';
import { populateDisk } from './populate-disk.ts';
import type { Privileges } from './privileges.ts';
import { createQcow2 } from './qcow2.ts';
import { refuseSharedFolder } from './shared-folder.ts';

type Vmi = Pick<VirtualMachineInstance, 'metadata' | 'spec'>;
type Options = {
  readonly vmi: Vmi;
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly privileges: Privileges;
  readonly report: (line: string) => void;
};
type Task = Options & { readonly disk: Disk; readonly volume: Volume; readonly index: number };

/** An image for each volume that a disk shows, by the volume's name. Files get numbers for names: nothing of the manifest is in a path. */
export function makeImages(options: Options): Map<string, DiskImage> {
  const images = new Map<string, DiskImage>();
  const { volumes = [], domain } = options.vmi.spec;
  for (const [index, disk] of (domain.devices.disks ?? []).entries()) {
    const volume = volumes.find(({ name }) => name === disk.name);
    if (volume && !images.has(volume.name))
      images.set(volume.name, withMatchedBlocks(makeImage({ ...options, disk, volume, index }), disk));
  }
  return images;
}

/** How the disk of each source is made. */
const BUILDERS: { readonly [Name in SourceName]: (task: Task, source: SourceData<Name>) => DiskImage } = {
  containerDisk: overlay,
  registryDisk: overlay,
  cloudInitNoCloud: (task, source) => cloudInit(task, 'noCloud', source),
  cloudInitConfigDrive: (task, source) => cloudInit(task, 'configDrive', source),
  emptyDisk: empty,
  hostDisk: fileOfHost,
  configMap: (task, { volumeLabel }) => filesDisk(task, { label: volumeLabel }),
  secret: (task, { volumeLabel }) => filesDisk(task, { label: volumeLabel }),
  downwardAPI: (task, { volumeLabel }) => filesDisk(task, { label: volumeLabel }),
  serviceAccount: (task) => filesDisk(task, { label: undefined }),
  sysprep: (task) => filesDisk(task, { label: SYSPREP_LABEL, check: requireAnswerFile }),
  persistentVolumeClaim: claim,
  dataVolume: (task) => claim(task, {}),
  ephemeral: claimBeneathOverlay,
  memoryDump: () => {
    throw new UserError('VOLUME_UNSUPPORTED', 'the memory of a guest is dumped to this volume: it is no disk');
  },
};

function makeImage(task: Task): DiskImage {
  const { volume } = task;
  for (const [name, build] of Object.entries(BUILDERS)) {
    const source = volume[name as SourceName]; // a key of the table
    if (source) return build(task, source as never); // the one that it builds
  }
  throw new UserError('VOLUME_UNSUPPORTED', `volume ${JSON.stringify(volume.name)} has no source that is known here`);
}

/** The guest writes to a file of its own; the image beneath is shared by all guests that use it. */
function overlay(task: Task, { path }: SourceData<'containerDisk'>): DiskImage {
  const { disk, index, folder, report } = task;
  const found = findBase(task, path);
  const base = { path: found.isLinked ? join(folder, baseName(index)) : found.path, format: found.format };
  const isReadOnly = isReadOnlyDisk(disk);
  report(`disk ${disk.name}: ${found.name}, ${found.format}, ${formatBytes(found.sizeBytes)}${isReadOnly ? ', read-only' : ''}`);
  if (isReadOnly) return { ...base, isReadOnly };
  const file = join(folder, `disk${index}.qcow2`);
  createQcow2(file, found.sizeBytes);
  return { path: file, format: 'qcow2', base, isEphemeral: true };
}

/** The disk itself: what the guest writes stays when the instance ends. */
function claim(task: Task, { readOnly: isVolumeReadOnly = false }: Pick<SourceData<'persistentVolumeClaim'>, 'readOnly'>): DiskImage {
  const { disk, volume, env } = task;
  const isReadOnly = isVolumeReadOnly || isReadOnlyDisk(disk);
  if (isVolumeReadOnly && !isReadOnlyDisk(disk) && (disk.disk?.bus ?? 'sata') === 'sata')
    throw new UserError('DISK_INVALID', `disk ${JSON.stringify(disk.name)} cannot show a read-only PVC`, {
      why: 'there are no read-only SATA disks',
      fix: 'use bus virtio or scsi, or a cdrom',
    });
  const image = claimImage(task, isReadOnly ? undefined : newDiskBytesFor(env, volume.name));
  if (disk.shareable && image.format !== 'raw')
    throw new UserError('DISK_INVALID', `disk ${JSON.stringify(disk.name)} cannot be shareable`, {
      why: `its format is ${image.format}, which has one writer`,
      fix: 'use a PVC with a raw disk: one that is new, or was imported',
    });
  return isReadOnly ? { ...image, isReadOnly } : image;
}

/** A file in a folder of the node, always raw: whatever it begins with, its guest may have written that. */
function fileOfHost(task: Task, { path: wanted, type, capacity }: SourceData<'hostDisk'>): DiskImage {
  const { disk, volume, index, folder, env, privileges, report } = task;
  const { file: name = '' } = hostFileAt(wanted) ?? {};
  const root = claimMount(folderName(volume.name)).mountPath;
  const linkPath = join(folder, baseName(index));
  const newSizeBytes = type === 'DiskOrCreate' && !isReadOnlyDisk(disk) ? parseQuantity(capacity ?? '') : undefined;
  const found = withFolder(task, root, (hostFolder) =>
    findHostDisk({ folder: hostFolder, name, linkPath, writer: writerOf(task), newSizeBytes }),
  );
  report(`disk ${disk.name}: file of the node, raw, ${formatBytes(found.sizeBytes)}${found.isNew ? ', new' : ''}`);
  const path = found.isLinked
    ? linkPath
    : join(
        privileges.asRoot(() => realpathSync(sandboxPath(root, env))),
        name,
      );
  return { path, format: 'raw', ...(isReadOnlyDisk(disk) && { isReadOnly: true }) };
}

/** The guest writes to a file of its own, which ends with the instance; the claim's disk beneath is never written. */
function claimBeneathOverlay(task: Task): DiskImage {
  const { sizeBytes, ...base } = claimImage(task, undefined);
  if (isReadOnlyDisk(task.disk)) return { ...base, isReadOnly: true };
  const path = join(task.folder, `disk${task.index}.qcow2`);
  createQcow2(path, sizeBytes);
  return { path, format: 'qcow2', base, isEphemeral: true };
}

function claimImage(task: Task, newSizeBytes: number | undefined): Pick<DiskImage, keyof ImageFile | 'isBehind'> & { sizeBytes: number } {
  const { disk, volume, index, folder, env, privileges, report } = task;
  // As root, who alone may see the folders above those of the Pod: a home folder is often closed to others.
  privileges.asRoot(() => refuseSharedFolder(folderName(volume.name), env));
  const { devicePath } = claimDevice(folderName(volume.name));
  const device = privileges.asRoot(() => findBlockDevice(sandboxPath(devicePath, env)));
  const isBlock = device !== undefined || privileges.asRoot(() => hasDeviceFolder(sandboxPath(devicePath, env), env));
  const began = diskImage(env, volume.name);
  const image = newSizeBytes === undefined ? undefined : began;
  if (isBlock && image)
    throw new UserError('DISK_INVALID', `the PVC of disk ${JSON.stringify(disk.name)} cannot begin as the image ${image}`, {
      why: 'it is in Block mode, where nobody can tell a disk that was filled from one that was not',
      fix: 'use a PVC with volumeMode Filesystem',
    });
  if (device) {
    report(`disk ${disk.name}: PVC in Block mode, ${formatBytes(device.sizeBytes)}`);
    return device;
  }
  const root = isBlock ? devicePath : claimMount(folderName(volume.name)).mountPath;
  const found: ClaimDisk = withFolder(task, root, (claimFolder) =>
    findClaimDisk({
      folder: claimFolder,
      linkPath: join(folder, baseName(index)),
      writer: writerOf(task),
      newSizeBytes,
      format: isBlock
        ? { declared: 'raw', ofImage: undefined }
        : { declared: declaredFormat(env, volume.name), ofImage: began === undefined ? undefined : () => formatOfImage(task) },
      fill: image === undefined ? undefined : (into, sizeBytes) => copyImage(task, { image, into, sizeBytes }),
    }),
  );
  report(
    `disk ${disk.name}: PVC${isBlock ? ' in Block mode' : ''}, ${found.format}, ${formatBytes(found.sizeBytes)}${found.isNew ? ', new' : ''}`,
  );
  if (found.whyNotGrown !== undefined)
    report(`disk ${disk.name} stays as large as it is: it cannot grow to ${formatBytes(newSizeBytes ?? 0)}: ${found.whyNotGrown}`);
  const path = found.isLinked
    ? join(folder, baseName(index))
    : join(
        privileges.asRoot(() => realpathSync(sandboxPath(root, env))),
        CLAIM_DISK,
      );
  return { path, format: found.format, sizeBytes: found.sizeBytes, ...(found.whyNotGrown !== undefined && { isBehind: true }) };
}

function formatOfImage({ volume, env, privileges }: Task): ImageFormat {
  const { file, format } = privileges.asRoot(() => openContainerDisk(diskRoot(folderName(volume.name), env)));
  closeSync(file);
  return format;
}

/** There is one of it at a time; a PVC has machines of one namespace. */
function writerOf({ vmi: { metadata }, volume }: Task): string {
  return `${metadata.name} ${volume.name}`;
}

type Copy = { readonly image: string; readonly into: string; readonly sizeBytes: number };

/** The image is opened as root, who alone may see the image store; everything else is done as QEMU's user. */
function copyImage(task: Task, { image, into, sizeBytes }: Copy): boolean {
  const { disk, volume, env, privileges, report } = task;
  const root = diskRoot(folderName(volume.name), env);
  const { file, ...facts } = privileges.asRoot(() => openContainerDisk(root));
  const unfinished = `${into}/${unfinishedName(writerOf(task))}`;
  try {
    report(`disk ${disk.name}: copying ${image} (${facts.name}, ${facts.format}, ${formatBytes(facts.sizeBytes)}) to its PVC`);
    return populateDisk({ from: file, facts, image, folder: into, unfinished, sizeBytes });
  } finally {
    rmSync(unfinished, { force: true });
    closeSync(file);
  }
}

/** As root, because the image store may be closed to QEMU's user; the way into our folder is one that the user itself has opened. */
function findBase({ volume, index, folder, env, privileges }: Task, path: string | undefined): FoundDisk {
  const root = diskRoot(folderName(volume.name), env);
  const here = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    return privileges.asRoot(() => findContainerDisk({ root, path, linkPath: `/proc/self/fd/${here}/${baseName(index)}` }));
  } finally {
    closeSync(here);
  }
}

/** Where the container image of a volume is. */
export function diskRoot(name: string, env: Options['env']): string {
  const share = env[LAUNCHER_VARIABLES.diskShare];
  if (!share) return sandboxPath(containerDiskMount(name).mountPath, env);
  const root = diskRootIn(share, name);
  if (root) return root;
  throw new UserError('VOLUME_MISSING', `the container of disk ${name} has ended`, { why: 'its image is read through it' });
}

function baseName(index: number): string {
  return `base${index}`;
}

function cloudInit(task: Task, layout: CloudInitLayout, source: SourceData<'cloudInitNoCloud'>): DiskImage {
  const { vmi } = task;
  const name = folderName(task.volume.name);
  const publicKeys = publicKeysFor(task, layout);
  const iso = withOptionalFolder(task, source.secretRef && contentMount(name), (secretFolder) =>
    withOptionalFolder(task, source.networkDataSecretRef && networkContentMount(name), (networkFolder) =>
      cloudInitIso({ vmi, layout, source, publicKeys, secretFolder, networkFolder }),
    ),
  );
  return isoDisk(task, 'cloud-init', iso);
}

type FilesDisk = { readonly label: string | undefined; readonly check?: (files: IsoFiles) => void };

/** The files of an object that the kubelet has mounted; a disk of what they are now. */
function filesDisk(task: Task, { label, check }: FilesDisk): DiskImage {
  const files = withFolder(task, contentMount(folderName(task.volume.name)).mountPath, readMountedFiles);
  check?.(files);
  return isoDisk(task, `${Object.keys(files).length} files`, createIso(label || FILES_LABEL, files));
}

function isoDisk({ disk, index, folder, report }: Task, what: string, iso: Buffer): DiskImage {
  const path = join(folder, `disk${index}.iso`);
  writeFileSync(path, iso, { flag: 'wx', mode: 0o600 });
  report(`disk ${disk.name}: ${what}, ${formatBytes(iso.length)}`);
  return { path, format: 'raw', isReadOnly: true, isEphemeral: true };
}

function publicKeysFor(task: Task, layout: CloudInitLayout): string[] {
  const secrets = credentialSourcesOf(task.vmi.spec).filter((each) => each.way === 'cloud-init' && each.layout === layout);
  return secrets.flatMap(({ secretName }) => withFolder(task, credentialMount(secretName).mountPath, readPublicKeys));
}

function withOptionalFolder<T>(task: Task, mount: Mount | undefined, use: (folder: string | undefined) => T): T {
  return mount ? withFolder(task, mount.mountPath, use) : use(undefined);
}

/** Root opens the folder that the node runtime mounted; what is in it is used as QEMU's user, who may see no more than the Pod may. */
function withFolder<T>({ volume, env, privileges }: Task, mountPath: string, use: (folder: string) => T): T {
  const path = sandboxPath(mountPath, env);
  const here = privileges.asRoot(() => openFolder(path, volume.name));
  try {
    return use(`/proc/self/fd/${here}`);
  } finally {
    closeSync(here);
  }
}

function openFolder(path: string, name: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch (error) {
    throw new UserError('VOLUME_MISSING', `the data of volume ${name} is not mounted`, { why: messageOf(error), cause: error });
  }
}

function empty({ disk, index, folder, report }: Task, { capacity }: SourceData<'emptyDisk'>): DiskImage {
  const bytes = parseQuantity(capacity);
  if (bytes === undefined || !(bytes > 0 && bytes <= MOST_BYTES))
    throw new UserError('DISK_SIZE_INVALID', `emptyDisk ${JSON.stringify(disk.name)} cannot have the size ${capacity}`, {
      why: 'a disk has between 1 byte and 64Ti',
    });
  const path = join(folder, `disk${index}.qcow2`);
  createQcow2(path, bytes);
  report(`disk ${disk.name}: empty, ${formatBytes(bytes)}`);
  return { path, format: 'qcow2', isEphemeral: true };
}

/** A volume's name is a DNS label; anything else must not become a path. */
function folderName(name: string): string {
  if (/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/i.test(name) && !name.includes('..')) return name;
  throw new UserError('VOLUME_NAME_INVALID', `${JSON.stringify(name.slice(0, 64))} cannot be the name of a volume`);
}
