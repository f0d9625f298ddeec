/** The environment of a launcher: what it cannot find out by itself. */

/** virt-controller puts these into the Pod. */
export const LAUNCHER_VARIABLES = {
  /** The instance to run, as JSON. */
  vmi: 'KUBEVIRT_VMI',
  /** How large the disks are that are not there yet, by volume, as JSON: only virt-controller sees the claims. */
  newDiskBytes: 'KUBEVIRT_NEW_DISK_BYTES',
  /** Which of its disks begin as which image, by volume, as JSON. */
  diskImages: 'KUBEVIRT_DISK_IMAGES',
  /** Which format the claim of a disk says that it has, by volume, as JSON. */
  diskFormats: 'KUBEVIRT_DISK_FORMATS',
  /** What the installation says of every machine, as JSON; not set when that is nothing. */
  settings: 'KUBEVIRT_MACHINE_SETTINGS',
  /** The uid of the migration whose guest it is to receive, instead of starting one. */
  incoming: 'KUBEVIRT_INCOMING',
  /** The digest of the memory that its guest is to go on with, instead of being started. */
  resume: 'KUBEVIRT_RESUME',
  /** The machine that this memory is of, when that is another one, as JSON: ResumeOrigin of suspension.ts. */
  resumeOrigin: 'KUBEVIRT_RESUME_ORIGIN',
  /** Where it meets the containers of its disks; not set where images are volumes. */
  diskShare: 'KUBEVIRT_DISK_SHARE',
} as const;

/** `kvm` or `tcg`, from whoever started the cluster; chosen by looking at the host when it is not set. */
export const ACCELERATOR_VARIABLE = 'KUBEVIRT_ACCEL';

/** `none`: the guest gets no way out of its QEMU; ports still lead in. From whoever started the cluster. */
export const GUEST_WAY_OUT_VARIABLE = 'KUBEVIRT_GUEST_WAY_OUT';

/** `embedded`: names are those of the embedded cluster, whatever the resolv.conf of the host says. Without it, the Pod's resolv.conf says it. */
export const CLUSTER_DNS_VARIABLE = 'KUBEVIRT_CLUSTER_DNS';

/** The embedded kubelet tells a program that it starts as root who it is to become. */
export const RUN_AS_VARIABLES = {
  user: 'CONTAINER_RUN_AS_USER',
  group: 'CONTAINER_RUN_AS_GROUP',
  /** Further ones, with commas between them. */
  groups: 'CONTAINER_RUN_AS_GROUPS',
} as const;

/** Folders that QEMU must not see, from the inside out, as JSON; from the embedded kubelet, where QEMU can have mounts of its own. */
export const HIDDEN_FOLDERS_VARIABLE = 'CONTAINER_HIDDEN_FOLDERS';
