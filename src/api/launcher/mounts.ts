/**
 * The volumes of a launcher Pod and where `compute` sees them: virt-controller writes them into the Pod, virt-launcher and virt-handler find
 * what they need there. Claims are not below the private volume, where upstream has them: the embedded node runtime cannot mount into a mount.
 */
import { sha1Hex } from '../../base/sha1.ts';
import { shortened } from '../core/short-name.ts';

export type Mount = { readonly name: string; readonly mountPath: string };

/** Sockets and logs; shared with virt-handler. */
export const PUBLIC_VOLUME = { name: 'public', mountPath: '/var/run/kubevirt' } as const satisfies Mount;
/** Disks; nobody else's business. */
export const PRIVATE_VOLUME = { name: 'private', mountPath: '/var/run/kubevirt-private' } as const satisfies Mount;
/** Where KubeVirt has what is the folder of ephemeral disks in our private volume; no mount, a link of the image. */
export const PUBLISHED_EPHEMERAL_DISKS = '/var/run/kubevirt-ephemeral-disks';
/** Where `compute` and the containers of its disks meet, on clusters without image volumes. */
export const DISK_SHARE_VOLUME = { name: 'container-disks', mountPath: '/var/run/kubevirt-disk-share' } as const satisfies Mount;

/** The PVC of the memory of a suspended machine: in the Pod that writes it, and in the launcher that goes on with it. */
export const MEMORY_VOLUME = { name: 'suspended-memory', mountPath: '/var/run/kubevirt-memory' } as const satisfies Mount;

/** The PVC that the memory of a guest is dumped to, in the Pod that writes it. */
export const DUMP_VOLUME = { name: 'dumped-memory', mountPath: '/var/run/kubevirt-dumped-memory' } as const satisfies Mount;

/** The PVC that a backup of the disks goes to, in the Pod that writes it. */
export const BACKUP_VOLUME = { name: 'backup', mountPath: '/var/run/kubevirt-backup' } as const satisfies Mount;

/** The image of a containerDisk, or of the first content of a claim, for a volume of the instance. */
export function containerDiskMount(volume: string): Mount {
  return { name: shortened(`disk-${volume}`), mountPath: `/var/run/kubevirt-container-disks/${volume}` };
}

/** The claim behind a volume of the instance. */
export function claimMount(volume: string): Mount {
  return { name: shortened(`claim-${volume}`), mountPath: `/var/run/kubevirt-vmi-disks/${volume}` };
}

/** The same in Block mode. */
export function claimDevice(volume: string): { readonly name: string; readonly devicePath: string } {
  return { name: claimMount(volume).name, devicePath: `/dev/${volume}` };
}

/** What the disk of a volume is made of, where that is an object of its own: a Secret with the user data of cloud-init, a ConfigMap. */
export function contentMount(volume: string): Mount {
  return { name: shortened(`secret-${volume}`), mountPath: `/var/run/kubevirt-private-secrets/${volume}` };
}

/** The Secret with the network data of cloud-init. */
export function networkContentMount(volume: string): Mount {
  return { name: shortened(`network-${volume}`), mountPath: `/var/run/kubevirt-private-network-data/${volume}` };
}

/** A Secret with keys or passwords for the guest; its name need not be one that a volume may have. */
export function credentialMount(secretName: string): Mount {
  const name = `access-cred-${sha1Hex(secretName).slice(0, 12)}`;
  return { name, mountPath: `/var/run/kubevirt-access-credentials/${name}` };
}
