/** What a conversion starts from: the instance, the host, and the files that were prepared for it. Paths are relative to QEMU's folder. */
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';

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
  /** The file is not to be written to. */
  readonly isReadOnly?: boolean;
};

export type ConvertInput = {
  readonly vmi: Pick<VirtualMachineInstance, 'metadata' | 'spec'>;
  readonly host: {
    readonly accel: 'kvm' | 'tcg';
    /** QEMU is on a network that is not for guests: ports lead in, nothing leads out. */
    readonly isClosed?: boolean;
  };
  readonly files: {
    /** The image of each volume that a disk shows, by the volume's name. */
    readonly images: ReadonlyMap<string, DiskImage>;
  };
};

/** What QMP calls the guest agent's port and its backend. */
export const AGENT_PORT = 'agent0';
/** What it calls the host's side of the card on the Pod's network, where ports are forwarded. */
export const POD_NETDEV = 'net0';
