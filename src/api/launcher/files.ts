/** Names of files in the volumes of a launcher Pod. QEMU's working folder is the public volume: virt-handler connects to what is there. */

export const QMP_SOCKET = 'qmp.sock';
export const SERIAL_SOCKET = 'serial0.sock';
/** What the guest printed, whether or not somebody was connected. */
export const SERIAL_LOG = 'serial0.log';
export const VNC_SOCKET = 'vnc.sock';
export const AGENT_SOCKET = 'agent.sock';
/** Where virt-handler puts frames onto the network of the guest, to see at which ports it answers. */
export const FRAMES_SOCKET = 'frames.sock';

/** Where the QEMU of a target listens for the memory and the disks of a guest that is moved. */
export const INCOMING_SOCKETS = { memory: 'incoming-memory.sock', disks: 'incoming-disks.sock' } as const;
/** Where virt-handler listens for what the QEMU of the source sends. */
export const OUTGOING_SOCKETS = { memory: 'outgoing-memory.sock', disks: 'outgoing-disks.sock' } as const;
/** Where QEMU writes a dump of its memory: a pipe that virt-handler makes and reads. */
export const DUMP_PIPE = 'memory-dump.fifo';
/** The two streams of a move. */
export type MoveChannel = keyof typeof INCOMING_SOCKETS;

/** Where the program that shares a folder of the instance listens for QEMU; folders have the numbers of their list. */
export function filesystemSocket(index: number): string {
  return `fs${index}.sock`;
}

/** In the private volume: the disks that end with the instance. */
export const DISKS_FOLDER = 'disks';
/** In the private volume, too: what scripts for KubeVirt look at, under the names that it has there. The image links to it. */
export const EPHEMERAL_DISKS_FOLDER = 'published-disks';

/** In the public volume of a launcher: digests of the disks that are made anew on another node. */
export const CONTENTS_FILE = 'contents.json';
/** There, too: a list of the volumes whose disks could not grow to what their PVCs have. */
export const BEHIND_FILE = 'behind.json';
