/** The Pod that fills the PVC of a DataVolume, or one that waits for an upload: virt-controller makes it, virt-importer runs in it. */
import { shortened } from '../core/short-name.ts';
import type { Mount } from '../launcher/mounts.ts';
import type { KubeObject } from '../meta.ts';

/** The program of its image, and the name of that. */
export const IMPORTER_PROGRAM = 'virt-importer';
export const IMPORTER_CONTAINER = 'importer';

/** What is to be done, as JSON. */
export const IMPORT_VARIABLE = 'KUBEVIRT_IMPORT';
/** Its own address, where it says how far it is. */
export const IMPORT_ADDRESS_VARIABLE = 'POD_IP';
export const IMPORT_PORT = 8444;

/** The PVC to be filled. */
export const TARGET_MOUNT = { name: 'target', mountPath: '/var/run/virt-importer/target' } as const satisfies Mount;
/** What it is filled from, where that is a PVC or a container image. */
export const SOURCE_MOUNT = { name: 'source', mountPath: '/var/run/virt-importer/source' } as const satisfies Mount;

export type ImportTask = {
  /** How large the disk is to be. */
  readonly sizeBytes: number;
} & (
  | { readonly from: 'http'; readonly url: string; readonly checksum?: string }
  /** Pulled by the importer itself where it is not mounted. */
  | { readonly from: 'registry'; readonly image: string; readonly isMounted: boolean }
  /** The format is that which the PVC says of itself. */
  | { readonly from: 'pvc'; readonly format?: string }
  /** Somebody sends it. */
  | { readonly from: 'upload' }
);

/** How far it is. */
export type ImportProgress = {
  readonly doneBytes: number;
  readonly totalBytes?: number;
  /** Why what was sent was not taken; it waits for something else. */
  readonly failure?: string;
};

/** By the uid, so that there is never a second one, and none that was made for another of the same name. */
export function importerPodNameOf({ metadata: { name, uid = '' } }: Pick<KubeObject, 'metadata'>): string {
  return shortened(`importer-${name.slice(0, 40)}-${uid.slice(0, 8)}`);
}
