/** What a conversion starts from: the instance, the host, and the files that were prepared for it. Paths are relative to QEMU's folder. */
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { MachineSettings } from '../../api/launcher/machine-settings.ts';

export type ImageFormat = 'raw' | 'qcow2';

/** A file and its format. The format is always stated: a guest can write any header into a raw disk, so QEMU must never guess. */
export type ImageFile = {
  readonly path: string;
  readonly format: ImageFormat;
  /** It is a block device of the host. */
  readonly isDevice?: boolean;
};

export type DiskImage = ImageFile & {
  /** What lies beneath and is never written: the image of a containerDisk. */
  readonly base?: ImageFile;
  /** Nothing is lost when the host goes down before a write reached it, because the disk ends with the instance anyway. */
  readonly isEphemeral?: boolean;
  /** Sizes of the blocks beneath, when the disk is to have the same. */
  readonly matched?: { readonly logicalBytes: number; readonly physicalBytes: number };
  /** The file is not to be written to. */
  readonly isReadOnly?: boolean;
  /** It is smaller than its PVC, and could not grow. */
  readonly isBehind?: boolean;
};

/** What is loaded into memory instead of a boot sector. */
export type BootFiles = { readonly kernel: string; readonly initrd?: string };

export type ConvertInput = {
  readonly vmi: Pick<VirtualMachineInstance, 'metadata' | 'spec'>;
  readonly host: {
    readonly accel: 'kvm' | 'tcg';
    /** The time, in milliseconds since 1970; for a clock that does not run in UTC. */
    readonly nowMs?: number;
    /** QEMU is on a network that is not for guests: ports lead in, nothing leads out. */
    readonly isClosed?: boolean;
    /** The guest runs elsewhere, and is to be received. */
    readonly isIncoming?: boolean;
    /** Where the guest is to look for short names. */
    readonly searchDomains?: readonly string[];
  };
  /** What the installation says of every machine. */
  readonly settings?: MachineSettings;
  readonly files: {
    /** The image of each volume that a disk shows, by the volume's name. */
    readonly images: ReadonlyMap<string, DiskImage>;
    /** Of a machine that brings a kernel of its own. */
    readonly boot?: BootFiles | undefined;
  };
};

/** What QMP calls the block node of a disk, which counts in the order of the spec. */
export function imageNode(index: number): string {
  return `image${index}`;
}

/** What QMP calls the guest agent's port and its backend. */
export const AGENT_PORT = 'agent0';
/** What it calls the host's side of the card on the Pod's network, where ports are forwarded. */
export const POD_NETDEV = 'net0';
