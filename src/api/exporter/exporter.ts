/** How disks are taken away: the Pod that has them and serves their bytes, its paths, and what a request brings. The paths and names are those that KubeVirt publishes. */
import { shortened } from '../core/short-name.ts';
import type { VirtualMachine } from '../kubevirt/kinds/virtual-machine.ts';
import { VM_EXPORTS } from '../kubevirt/kinds/vm-export.ts';
import type { Mount } from '../launcher/mounts.ts';

/** What is to be served, as JSON; the program is that of importers. */
export const EXPORT_VARIABLE = 'KUBEVIRT_EXPORT';
export const EXPORTER_CONTAINER = 'exporter';
/** Where the Pod serves, by TLS, whoever has the token. */
export const EXPORT_PORT = 8443;
/** Who asks for bytes shows this, with what is in the Secret under the key. */
export const EXPORT_TOKEN_HEADER = 'x-kubevirt-export-token';
export const EXPORT_TOKEN_KEY = 'token';
/** Pods and Services of exports, by which a Service finds its Pod. */
export const LABEL_EXPORT_SERVICE = 'kubevirt.io.virt-export-service';

export const EXPORT_TOKEN_MOUNT = { name: 'token', mountPath: '/var/run/virt-exporter/token' } as const satisfies Mount;
/** For sockets. */
export const EXPORT_WORK_MOUNT = { name: 'work', mountPath: '/var/run/virt-exporter/work' } as const satisfies Mount;

/** By its place: names of PVCs may be longer than those of volumes of a Pod. */
export function exportedMount(index: number): Mount {
  return { name: `disk-${index}`, mountPath: `/var/run/virt-exporter/disks/${index}` };
}

/** The same of a PVC in Block mode. */
export function exportedDevice(index: number): { readonly name: string; readonly devicePath: string } {
  return { name: exportedMount(index).name, devicePath: `/dev/virt-exporter-${index}` };
}

export type ExportTask = {
  /** As links call them; the format is that which the PVC says of itself. */
  readonly volumes: readonly { readonly name: string; readonly format?: string; readonly storage?: string; readonly isDevice?: true }[];
  /** What the certificate of the Pod is for. */
  readonly serverNames: readonly string[];
  readonly exportName: string;
  /** The machine, for its manifests; not given when there is none, or it is too large. */
  readonly machine?: Pick<VirtualMachine, 'metadata' | 'spec'>;
  /** Where the volumes are, by who asks. */
  readonly bases: Readonly<Partial<Record<LinkSide, { readonly url: string; readonly cert?: string }>>>;
};

/** Inside of the cluster, or outside of it. */
export type LinkSide = 'internal' | 'external';

/** What the Pod says of itself, once its disks are open. */
export type ExportState = {
  /** PEM: who vouches for the Pod, to those who come by its Service. */
  readonly cert?: string;
  readonly volumes: readonly {
    readonly name: string;
    readonly sizeBytes: number;
    /** No disk: its files are served as an archive, and one by one. */
    readonly hasFiles?: boolean;
  }[];
  /** Why it cannot serve. */
  readonly failure?: string;
};

/** The Pod and the Service of an export. */
export function exportObjectName(name: string): string {
  return shortened(`virt-export-${name}`);
}

export type DiskFile = 'disk.img' | 'disk.img.gz' | 'disk.tar.gz' | 'dir';

/** What the link to an archive of files is called: a volume that has one is no disk. */
export const ARCHIVE_FORMAT = 'tar.gz';

/** Below the address of the Pod, or of the export at the proxy. */
export function diskPath(volume: string, file: DiskFile): string {
  return `/volumes/${encodeURIComponent(volume)}/${file}`;
}

/** A part of a disk, compressed, whose length is in the query: short requests, as API servers want them. */
export function piecePath(volume: string, { from, bytes }: { readonly from: number; readonly bytes: number }): string {
  return `/volumes/${encodeURIComponent(volume)}/piece?from=${from}&bytes=${bytes}`;
}

/** With a piece: how large the disk is that it is of. Which disk that is, and in which state, its ETag says. */
export const DISK_BYTES_HEADER = 'x-kubevirt-disk-bytes';
export const MOST_PIECE_BYTES = 16 * 2 ** 20;

export type ManifestFile = 'all' | 'secret';
export function manifestPath(side: LinkSide, file: ManifestFile): string {
  return `/${side}/manifests/${file}`;
}

/** The Service that leads to virt-api, for those outside of the cluster. */
export const EXPORT_PROXY_SERVICE = 'virt-exportproxy';

/** Where an export is at the proxy. */
export function exportProxyPath({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `/api/${VM_EXPORTS.group}/${VM_EXPORTS.version}/namespaces/${namespace}/virtualmachineexports/${name}`;
}
