/**
 * What a launcher Pod mounts for the volumes of its instance: container images, claims and Secrets; the others are made inside the Pod. Pure.
 *
 * The image of a containerDisk is an image volume where the cluster has them. Elsewhere it is a second container that does nothing but be
 * there: the containers share their processes, so `compute` reads the disk in the other's root folder, without a copy and without
 * privileges. Its program comes from our image: a hook of `compute`, for which the kubelet waits, puts it into a shared volume.
 */
import type { Container, EnvVar, Lifecycle, PodVolume, ResourceRequirements, VolumeDevice, VolumeMount } from '../../api/core/pod.ts';
import { credentialSourcesOf } from '../../api/kubevirt/access-credentials.ts';
import type { HostDiskFolder } from '../../api/kubevirt/configuration/host-disk-folders.ts';
import { KERNEL_BOOT_VOLUME, kernelImageOf } from '../../api/kubevirt/kernel-boot.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { Volume } from '../../api/kubevirt/vmi-spec-schema.ts';
import { claimOf, contentOf, hostFileOf, imageOf, networkContentOf } from '../../api/kubevirt/volumes/source-of.ts';
import type { ClaimUse, DiskImageSource, HostFile } from '../../api/kubevirt/volumes/volume-source.ts';
import { diskContainerName, SHARE_FILES, SHARE_PROGRAM } from '../../api/launcher/disk-share.ts';
import {
  claimDevice,
  claimMount,
  containerDiskMount,
  contentMount,
  credentialMount,
  DISK_SHARE_VOLUME,
  type Mount,
  networkContentMount,
} from '../../api/launcher/mounts.ts';
import { LAUNCHER_VARIABLES } from '../../api/launcher/variables.ts';
import { type Claims, diskImageOf } from './claims.ts';
import { isGuaranteed } from './launcher-resources.ts';

/** How the image of a containerDisk comes into a launcher Pod. */
export type ContainerDiskWay = 'image-volume' | 'container';

export type LauncherVolumes = {
  readonly volumes: readonly PodVolume[];
  readonly mounts: readonly VolumeMount[];
  readonly devices: readonly VolumeDevice[];
  /** Beside `compute`. */
  readonly containers: readonly Container[];
  readonly env: readonly EnvVar[];
  /** With which its images are pulled, each once. */
  readonly pullSecrets: readonly string[];
  /** Of `compute`. */
  readonly lifecycle?: Lifecycle;
};
type Options = {
  readonly claims: Claims | undefined;
  readonly way: ContainerDiskWay;
  /** Folders of nodes that machines of this namespace may have files in. */
  readonly hostDiskFolders?: readonly HostDiskFolder[] | undefined;
  /** Of `compute`. */
  readonly resources: ResourceRequirements;
  /** Of the containers that hold disks; what an idle shell needs when not given. */
  readonly diskContainerResources?: ResourceRequirements | undefined;
};

/** What an idle shell needs. A limit holds for the runtime that starts it, too: with 10m that alone takes a second and a half. */
const IDLE = { small: { cpu: '1m', memory: '1Mi' }, most: { cpu: '50m', memory: '40Mi' } } as const;

/** Everything that the volumes of an instance need in its Pod. */
export function launcherVolumes({ spec }: VirtualMachineInstance, options: Options): LauncherVolumes {
  const kernel = kernelImageOf(spec);
  const parts = [
    ...(spec.volumes ?? []).flatMap((volume) => partsFor(volume, options)),
    ...credentialParts(spec),
    ...(kernel ? [imageParts(KERNEL_BOOT_VOLUME, kernel, options)] : []),
  ];
  const hasShare = parts.some(({ containers = [] }) => containers.length > 0);
  return {
    volumes: [...(hasShare ? [{ name: DISK_SHARE_VOLUME.name, emptyDir: {} }] : []), ...parts.flatMap((part) => part.volumes ?? [])],
    mounts: [...(hasShare ? [DISK_SHARE_VOLUME] : []), ...parts.flatMap((part) => part.mounts ?? [])],
    devices: parts.flatMap((part) => part.devices ?? []),
    containers: parts.flatMap((part) => part.containers ?? []),
    pullSecrets: [...new Set([...(spec.volumes ?? []).map(imageOf), kernel].flatMap((image) => image?.imagePullSecret || []))],
    env: hasShare ? [{ name: LAUNCHER_VARIABLES.diskShare, value: DISK_SHARE_VOLUME.mountPath }] : [],
    ...(hasShare && { lifecycle: { postStart: { exec: { command: [SHARE_PROGRAM, DISK_SHARE_VOLUME.mountPath] } } } }),
  };
}

type Parts = Partial<Pick<LauncherVolumes, 'volumes' | 'mounts' | 'devices' | 'containers'>>;

/** By what the record of its source says; nothing for one that is made inside the Pod. */
function partsFor(volume: Volume, options: Options): Parts[] {
  const [image, claim] = [imageOf(volume), claimOf(volume)];
  const [content, networkContent] = [contentOf(volume), networkContentOf(volume)];
  const hostFile = hostFileOf(volume);
  return [
    ...(hostFile ? [hostFolder(volume.name, hostFile, options)] : []),
    ...(image ? [imageParts(volume.name, image, options)] : []),
    ...(claim ? [claimVolume(volume.name, claim, options), ...firstContent(volume, options)] : []),
    ...(content ? [readOnlyParts(contentMount(volume.name), content)] : []),
    ...(networkContent ? [readOnlyParts(networkContentMount(volume.name), networkContent)] : []),
  ];
}

/** The image that the disk of a claim begins as. It is looked at once, so nobody needs a newer one of that name. */
function firstContent(source: Volume, options: Options): Parts[] {
  const image = diskImageOf(source, options.claims);
  return image ? [imageParts(source.name, { image, imagePullPolicy: 'IfNotPresent' }, options)] : [];
}

function imageParts(name: string, source: DiskImageSource, options: Options): Parts {
  return options.way === 'container' ? diskContainer(name, source, options) : imageVolume(name, source);
}

/** Where the launcher reads keys for cloud-init, and virt-handler what the guest agent is to set. */
function credentialParts(spec: VirtualMachineInstance['spec']): Parts[] {
  const names = new Set(credentialSourcesOf(spec).map(({ secretName }) => secretName));
  return [...names].map((secretName) => readOnlyParts(credentialMount(secretName), { secret: { secretName } }));
}

function readOnlyParts(mount: Mount, source: Omit<PodVolume, 'name'>): Parts {
  return { volumes: [{ name: mount.name, ...source }], mounts: [{ ...mount, readOnly: true }] };
}

function imageVolume(name: string, { image, imagePullPolicy }: DiskImageSource): Parts {
  const reference = { reference: image, ...(imagePullPolicy && { pullPolicy: imagePullPolicy }) };
  return readOnlyParts(containerDiskMount(name), { image: reference });
}

function diskContainer(name: string, { image, imagePullPolicy }: DiskImageSource, options: Options): Parts {
  const { mountPath } = DISK_SHARE_VOLUME;
  const container: Container = {
    name: diskContainerName(name),
    image,
    ...(imagePullPolicy && { imagePullPolicy }),
    command: [`${mountPath}/${SHARE_FILES.shell}`, 'sh', `${mountPath}/${SHARE_FILES.script}`, mountPath, name],
    resources: options.diskContainerResources ?? idleResources(options.resources),
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, readOnlyRootFilesystem: true },
    volumeMounts: [DISK_SHARE_VOLUME],
  };
  return { containers: [container] };
}

/** Its processor is limited only when that of `compute` is: the Guaranteed class, and some quotas, ask it of every container. */
function idleResources(compute: ResourceRequirements): ResourceRequirements {
  if (isGuaranteed(compute)) return { requests: IDLE.most, limits: IDLE.most };
  return { requests: IDLE.small, limits: compute.limits?.['cpu'] === undefined ? { memory: IDLE.most.memory } : IDLE.most };
}

/** Where claims are, too. Admission has looked at it; of a folder that is not allowed any more there is no mount, and the launcher says so. */
function hostFolder(name: string, { folder }: HostFile, { hostDiskFolders = [] }: Options): Parts {
  if (!hostDiskFolders.some(({ path }) => path === folder)) return {};
  const mount = claimMount(name);
  return { volumes: [{ name: mount.name, hostPath: { path: folder, type: 'Directory' } }], mounts: [mount] };
}

function claimVolume(name: string, { claimName, isReadOnly }: ClaimUse, { claims }: Options): Parts {
  const mount = claimMount(name);
  const volumes = [{ name: mount.name, persistentVolumeClaim: { claimName } }];
  if (claims?.get(claimName)?.spec.volumeMode === 'Block') return { volumes, devices: [claimDevice(name)] };
  return { volumes, mounts: [{ ...mount, ...(isReadOnly && { readOnly: true }) }] };
}
